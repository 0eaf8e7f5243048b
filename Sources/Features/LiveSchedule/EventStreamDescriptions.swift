import Domain
import Server
import Wire

enum EventStreamDescriptions {
    static let reminders = RouteDescription(
        "Reminders, as they come",
        details: """
            Server-sent events: reminder at the lead, schedule when the day changes, rematched when one goes on in another room. With from and to, of others' changes between these \
            two instants; else from yesterday to the day after tomorrow.
            """,
        parameters: [
            .device(.device), .optional("from", "With to; 32 days apart at most.", .instant),
            .optional("to", "With from.", .instant),
            .header("Last-Event-ID", "Goes on behind this reminder.", .uuid),
        ],
        answers: [
            RouteDescription.eventStream,
            .refusal(429, "too_many_streams", meaning: "the device has as many as it may"),
        ], example: "'/reminders?deviceId=anna-7c1f' -N")
}
