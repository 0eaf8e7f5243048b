import Domain
import Rooms
import Server
import Wire

/// The descriptions of the routes of tasks, days and devices.
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
                slot + [.member("title", .title), .optional("timeZone", .zone), .optional("invite", .boolean)]),
            example: #"{"deviceId":"anna-7c1f","title":"History","startsAt":"2026-11-22T09:00:00Z"}"#),
        answers: [
            .json(201, "The new task.", task), .json(200, "The task exists already. Its title may have changed.", task),
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
            .object(slot + [.optional("timeZone", .zone)]),
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
            .object(slot + [.optional("timeZone", .zone)]),
            example: #"{"deviceId":"anna-7c1f","startsAt":"2026-11-22T10:00:00Z"}"#),
        answers: [
            .json("The task.", task), .refusal(400, "too_far_ahead", meaning: "The start is more than 90 days ahead."),
            .refusal(404, "no_such_task", meaning: "The device has no such task."),
            .refusal(
                409, "slot_taken", "registration_closed",
                meaning: "The device has another task at that time, or the time for registration has passed."
            ),
            .storageFull,
        ],
        example: "/task/4294EB43-D59F-4C87-BBC9-A4EFF1D431E2/move")

    private static let past = JSONSchema.shared(
        "PastTask",
        .object([
            .member("id", .uuid), .member("title", .text()), .member("startTime", .text()), .member("timeZone", .zone),
            .member("startsAt", .instant), .optional("startedAt", .instant),
            .optional("outcome", .enum(["kept", "letDown", "missed"])), .optional("letDown", .boolean),
            .optional("attendance", .enum(["came", "late", "absent"])), .optional("partnerTask", .text()),
        ]))

    static let started = RouteDescription(
        "Record that you have started", parameters: [.path("id", "The task.", .uuid)],
        body: .init(.object([.member("deviceId", .device)]), example: #"{"deviceId":"anna-7c1f"}"#),
        answers: [
            .json("The task.", task),
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

    static let sessions = RouteDescription(
        "Get a day in the iOS app's format",
        details: "The sixteen sessions of a day. The array has a time, then its slot, and so on.",
        body: .init(
            .object([
                .member("deviceId", .device), .member("date", date), .optional("timeZone", .zone),
            ]), example: #"{"deviceId":"anna-7c1f","date":"2026-11-22","timeZone":"UTC"}"#),
        answers: [
            .json(
                "The day.",
                .object([.member("schedule", .array(.either([.text(), daySlot])))]))
        ])

    static let everything = RouteDescription(
        "Get a day",
        details: "The sixteen sessions, the device's other tasks and other slots to join, in order of time.",
        parameters: [
            .device(.device), .query("date", "The date.", date),
            .optional("timeZone", "The date's time zone. The default is the zone of the device's latest task.", .zone),
        ],
        answers: [.json("The day.", .object([.member("schedule", .map(daySlot))]))],
        example: "'/schedule?deviceId=anna-7c1f&date=2026-11-22&timeZone=Europe/London'")

    private static let date = JSONSchema.described(
        "A date such as 2026-11-22, or the instant of the device's midnight on that date.", .text())

    private static let slot: [JSONSchema.Member] = [
        .member("deviceId", .device), .optional("startsAt", .instant), .optional("date", date),
        .optional("startTime", .text(pattern: "^[0-9]{2}:[0-9]{2}(:[0-9]{2})?$")),
    ]

    private static let cancellation: [RouteDescription.Answer] = [
        .json("The cancelled task.", task), .refusal(404, "no_such_task", meaning: "The device has no such task."),
        .refusal(
            409, "has_partner", "registration_closed", meaning: "The task has a partner, or its reminder was sent."),
    ]

    static let task = JSONSchema.shared(
        "Task",
        .object([
            .member("id", .uuid), .member("deviceId", .device), .member("title", .text()),
            .member("startTime", .text()),
            .member("timeZone", .zone), .member("startsAt", .instant), .member("remindsAt", .instant),
            .member("isPaired", .boolean), .optional("partnerTitle", .text()), .member("socketId", .uuid),
            .optional("seriesId", .uuid), .optional("invitation", .text()),
        ]))

    private static let daySlot = JSONSchema.shared(
        "DaySlot",
        .object([
            .member("id", .uuid), .member("title", .text()), .member("hasOwnTask", .boolean),
            .member("hasSomebodyElse", .boolean), .optional("partnerTask", .text()), .optional("roomId", .uuid),
        ]))
}
