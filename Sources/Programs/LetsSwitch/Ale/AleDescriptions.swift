import Domain
import Server
import Wire

enum AleDescriptions {
    static let socket = RouteDescription.socket(
        "The room of a match",
        details:
            "What is said there: /schemas/ale.json. Without id, where --open-questions is set, the session that is everybody's.",
        parameters: [
            .optional("id", "The room.", .uuid),
            .optional("taskId", "One's own task: then the server knows who it is.", .uuid),
            .optional("presence", "Whether to be told how many are there.", .words(["true", "false"])),
            .optional("deviceId", "With presence: one's own device, which counts once.", .text()),
        ],
        refusals: [
            .refusal(403, "room_not_open", meaning: "come again at opensAt"),
            .refusal(404, "no_such_room", meaning: "there is none"),
            .refusal(409, "room_full", "session_full", "session_closed", meaning: "there is no place"),
            .refusal(410, "room_closed", meaning: "its time is over"),
        ] + RouteDescription.ticketRefusals)

    static let echo = RouteDescription.socket("Sends back every message", details: "For conformance suites.")
}
