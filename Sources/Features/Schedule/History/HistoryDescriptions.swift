import Domain
import Server
import Wire

/// The descriptions of the routes of past tasks.
enum HistoryDescriptions {
    static let started = RouteDescription(
        "Record that you have started", parameters: [.path("id", "The task.", .uuid)],
        body: .init(.object([.member("deviceId", .device)]), example: #"{"deviceId":"anna-7c1f"}"#),
        answers: [
            .json("The task.", .task),
            .refusal(404, "no_such_task", meaning: "The device has no such task."),
            .refusal(409, "not_started", meaning: "The task's start is in the future."),
        ])

    static let history = RouteDescription(
        "Show how your last weeks went", parameters: [.device(.device)],
        answers: [
            .json(
                "The latest 500 past tasks, and how many were kept, missed or left by the partner.",
                .object([
                    .member("kept", .count), .member("missed", .count), .member("letDown", .count),
                    .member("streak", .count), .member("tasks", .array(past)),
                ]))
        ], example: "'/history?deviceId=anna-7c1f'")

    private static let past = JSONSchema.shared(
        "PastTask",
        .object([
            .member("id", .uuid), .member("title", .text()), .member("startTime", .text()), .member("timeZone", .zone),
            .member("startsAt", .instant), .optional("startedAt", .instant),
            .optional("outcome", .enum(["kept", "letDown", "missed"])), .optional("letDown", .boolean),
            .optional("attendance", .enum(["came", "late", "absent"])), .optional("partnerTask", .text()),
        ]))
}
