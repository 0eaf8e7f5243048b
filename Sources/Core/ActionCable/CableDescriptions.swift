import Server
import Wire

enum CableDescriptions {
    static let socket = RouteDescription.socket(
        "Rooms, reminders, questions and conversations by Action Cable",
        details: "Who isn't let in is told so on the WebSocket.",
        parameters: [
            .optional("deviceId", "Who it is.", .text()), .optional("token", "A ticket.", .text()),
            .optional("sid", "The session that is to go on, by the extended protocol.", .text()),
        ])
}
