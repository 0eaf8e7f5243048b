import Domain
import Rooms
import Server
import Wire

/// The descriptions of the routes of tasks.
enum TaskDescriptions {
    static let register = RouteDescription(
        "Promise to start something",
        details: """
            The start is startsAt, or date and startTime in timeZone. The partner is someone who promises the same \
            instant. A repeated request returns the same task; another title changes its title. With invite, the \
            answer has a link for a guest.
            """,
        body: .init(
            .object(
                JSONSchema.slot + [
                    .member("title", .title), .optional("timeZone", .zone), .optional("invite", .boolean),
                ]),
            example: #"{"deviceId":"anna-7c1f","title":"History","startsAt":"2026-11-22T09:00:00Z"}"#),
        answers: [
            .json(201, "The new task.", .task),
            .json(200, "The task exists already. Its title may have changed.", .task),
            .refusal(400, "too_far_ahead", meaning: "The start is more than 90 days ahead."),
            .refusal(
                409, "registration_closed",
                meaning: "The time for registration has passed, by default a minute before the start."),
            .refusal(429, "too_many_tasks", meaning: "The device has the maximum number of tasks."),
            .storageFull,
        ],
        example: "/task")

    static let cancelBySlot = RouteDescription(
        "Cancel the task at a certain time",
        body: .init(
            .object(JSONSchema.slot + [.optional("timeZone", .zone)]),
            example: #"{"deviceId":"anna-7c1f","startsAt":"2026-11-22T09:00:00Z"}"#),
        answers: cancellation,
        example: "/task/delete")

    static let cancelByID = RouteDescription(
        "Cancel a task",
        parameters: [
            .path("id", "The task.", .uuid), .device(.device),
            .optional("leave", "Whether to cancel the task even if it has a partner.", .enum(["true", "false"])),
        ], answers: cancellation,
        example: "'/task/4294EB43-D59F-4C87-BBC9-A4EFF1D431E2?deviceId=anna-7c1f' -X DELETE")

    static let move = RouteDescription(
        "Move a task to another time",
        details: "The task keeps its id and its title. If the server refuses the move, the task stays unchanged.",
        parameters: [.path("id", "The task.", .uuid)],
        body: .init(
            .object(JSONSchema.slot + [.optional("timeZone", .zone)]),
            example: #"{"deviceId":"anna-7c1f","startsAt":"2026-11-22T10:00:00Z"}"#),
        answers: [
            .json("The task.", .task), .refusal(400, "too_far_ahead", meaning: "The start is more than 90 days ahead."),
            .refusal(404, "no_such_task", meaning: "The device has no such task."),
            .refusal(
                409, "slot_taken", "registration_closed",
                meaning: "The device has another task at that time, or the time for registration has passed."
            ),
            .storageFull,
        ],
        example: "/task/4294EB43-D59F-4C87-BBC9-A4EFF1D431E2/move")

    private static let cancellation: [RouteDescription.Answer] = [
        .json("The cancelled task.", .task), .refusal(404, "no_such_task", meaning: "The device has no such task."),
        .refusal(
            409, "has_partner", "registration_closed", meaning: "The task has a partner, or its reminder was sent."),
    ]
}
