import Server
import Wire

/// The description of `/cable` and its messages.
package enum CableDescriptions {
    static let socket = RouteDescription.socket(
        "Rooms, reminders, questions and conversations by Action Cable",
        details: "A connection that isn't allowed receives the reason in a disconnect message on the WebSocket.",
        parameters: [
            .optional("deviceId", "The caller's device.", .text()), .optional("token", "A ticket.", .text()),
            .optional("sid", "The session to resume. Extended protocol only.", .text()),
        ])
}
