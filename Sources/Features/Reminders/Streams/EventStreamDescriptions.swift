import Domain
import Server
import Wire

enum EventStreamDescriptions {
    static let reminders = RouteDescription(
        "Stream reminders",
        details: """
            Server-sent events: reminder at the lead, schedule when the day changes, rematched when a task moves to \
            another room. Changes by others are reported between from and to. The default is from yesterday to the day \
            after tomorrow.
            """,
        parameters: [
            .device(.device),
            .optional("from", "The start of the period. Requires to, at most 32 days later.", .instant),
            .optional("to", "The end of the period. Requires from.", .instant),
            .header("Last-Event-ID", "Resumes the stream after this reminder.", .uuid),
        ],
        answers: [
            RouteDescription.eventStream,
            .refusal(429, "too_many_streams", meaning: "The device has the maximum number of streams."),
        ], example: "'/reminders?deviceId=anna-7c1f' -N")
}
