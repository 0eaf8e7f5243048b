import Domain
import Server
import Wire

enum AleDescriptions {
    static let socket = RouteDescription.socket(
        "Enter the room of a match",
        details:
            """
            The messages are in /schemas/ale.json. With --open-questions, a request without id enters the open \
            question session.
            """,
        parameters: [
            .optional("id", "The room.", .uuid),
            .optional("taskId", "Your own task. It identifies the member.", .uuid),
            .optional("presence", "Whether the server reports the number of members.", .enum(["true", "false"])),
            .optional("deviceId", "Your own device, used with presence. A device counts once.", .text()),
        ],
        refusals: [
            .refusal(403, "room_not_open", meaning: "The room isn't open yet. It opens at opensAt."),
            .refusal(404, "no_such_room", meaning: "There is no such room."),
            .refusal(
                409, "room_full", "session_full", "session_closed",
                meaning: "The room or session is full, or the session is closed."),
            .refusal(410, "room_closed", meaning: "The room is closed."),
        ] + RouteDescription.ticketRefusals)
}
