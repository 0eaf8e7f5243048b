import Domain
import Scheduling
import Server
import Wire

/// The descriptions of the routes of tasks, days and devices.
enum TaskDescriptions {
    static let register = RouteDescription(
        "Promise to start something",
        details: """
            Either startsAt, or date and startTime in timeZone, says when. Who promises the same instant is the partner. A repeat is \
            harmless; another title changes the title. With invite the answer has a link, and whoever opens it is the partner.
            """,
        body: .init(
            .object(
                slot + [.member("title", .title), .optional("timeZone", .zone), .optional("invite", .boolean)]),
            example: #"{"deviceId":"anna-7c1f","title":"History","startsAt":"2026-11-22T09:00:00Z"}"#),
        answers: [
            .json(201, "the task", task), .json(200, "it was there already; maybe its title has changed", task),
            .refusal(400, "too_far_ahead", meaning: "more than 90 days ahead"),
            .refusal(409, "registration_closed", meaning: "later than a minute before the start"),
            .refusal(429, "too_many_tasks", meaning: "the device has as many as it may"),
            .refusal(503, "storage_full", meaning: "as much is kept as may be"),
        ],
        example: "/task")

    static let cancelBySlot = RouteDescription(
        "Take a promise back, by its time",
        body: .init(
            .object(slot + [.optional("timeZone", .zone)]),
            example: #"{"deviceId":"anna-7c1f","startsAt":"2026-11-22T09:00:00Z"}"#),
        answers: cancellation,
        example: "/task/delete")

    static let cancelByID = RouteDescription(
        "Take a promise back",
        parameters: [
            .path("id", "The task.", .uuid), .device(.device),
            .optional("leave", "Also when somebody counts on it.", .words(["true", "false"])),
        ], answers: cancellation,
        example: "'/task/4294EB43-D59F-4C87-BBC9-A4EFF1D431E2?deviceId=anna-7c1f' -X DELETE")

    static let move = RouteDescription(
        "Move a promise to another time",
        details: "The task keeps its id and its title; all of it happens, or nothing.",
        parameters: [.path("id", "The task.", .uuid)],
        body: .init(
            .object(slot + [.optional("timeZone", .zone)]),
            example: #"{"deviceId":"anna-7c1f","startsAt":"2026-11-22T10:00:00Z"}"#),
        answers: [
            .json("the task", task), .refusal(400, "too_far_ahead", meaning: "more than 90 days ahead"),
            .refusal(404, "no_such_task", meaning: "there is none"),
            .refusal(
                409, "slot_taken", "registration_closed", meaning: "the device has another task then, or it is too late"
            ),
            .refusal(503, "storage_full", meaning: "as much is kept as may be"),
        ],
        example: "/task/4294EB43-D59F-4C87-BBC9-A4EFF1D431E2/move")

    private static let past = JSONSchema.object([
        .member("id", .uuid), .member("title", .text()), .member("startTime", .text()), .member("timeZone", .zone),
        .member("startsAt", .instant), .optional("startedAt", .instant),
        .optional("outcome", .words(["kept", "letDown", "missed"])), .optional("letDown", .boolean),
        .optional("attendance", .words(["came", "late", "absent"])), .optional("partnerTask", .text()),
    ])

    static let started = RouteDescription(
        "Say that one has started", parameters: [.path("id", "The task.", .uuid)],
        body: .init(.object([.member("deviceId", .device)]), example: #"{"deviceId":"anna-7c1f"}"#),
        answers: [
            .json("the task", task),
            .refusal(404, "no_such_task", meaning: "there is none"),
            .refusal(409, "not_started", meaning: "its start is yet to come"),
        ])

    static let history = RouteDescription(
        "How the last weeks went", parameters: [.device(.device)],
        answers: [
            .json(
                "what was kept and what wasn't, the latest 500",
                .object([
                    .member("kept", .count), .member("missed", .count), .member("letDown", .count),
                    .member("streak", .count), .member("tasks", .array(past)),
                ]))
        ], example: "'/history?deviceId=anna-7c1f'")

    static let sessions = RouteDescription(
        "A day, as the app reads it", details: "The sixteen sessions of a day, times and slots in turn.",
        body: .init(
            .object([
                .member("deviceId", .device), .member("date", date), .optional("timeZone", .zone),
            ]), example: #"{"deviceId":"anna-7c1f","date":"2026-11-22","timeZone":"UTC"}"#),
        answers: [
            .json(
                "the day",
                .object([.member("schedule", .array(.either([.text(), daySlot])))]))
        ])

    static let everything = RouteDescription(
        "A day", details: "The sixteen sessions, and what else the device has or could join, in order of time.",
        parameters: [
            .device(.device), .query("date", "The day.", date),
            .optional("timeZone", "Whose clock that is; else that of the device's latest task.", .zone),
        ],
        answers: [.json("the day", .object([.member("schedule", .map(daySlot))]))],
        example: "'/schedule?deviceId=anna-7c1f&date=2026-11-22&timeZone=Europe/London'")

    static let erase = RouteDescription(
        "Forget a person", parameters: [.device(.device)], answers: [.json("it is forgotten", .nothingToSay)],
        example: "'/device?deviceId=anna-7c1f' -X DELETE")

    private static let date = JSONSchema.said("2026-11-22, or the device's midnight as an instant.", .text())

    private static let slot: [JSONSchema.Member] = [
        .member("deviceId", .device), .optional("startsAt", .instant), .optional("date", date),
        .optional("startTime", .text(pattern: "^[0-9]{2}:[0-9]{2}(:[0-9]{2})?$")),
    ]

    private static let cancellation: [RouteDescription.Answer] = [
        .json("the task that is no more", task), .refusal(404, "no_such_task", meaning: "there is none"),
        .refusal(409, "has_partner", "registration_closed", meaning: "somebody counts on it, or its reminder is out"),
    ]

    static let task = JSONSchema.object([
        .member("id", .uuid), .member("deviceId", .device), .member("title", .text()), .member("startTime", .text()),
        .member("timeZone", .zone), .member("startsAt", .instant), .member("remindsAt", .instant),
        .member("isPaired", .boolean), .optional("partnerTitle", .text()), .member("socketId", .uuid),
        .optional("seriesId", .uuid), .optional("invitation", .text()),
    ])

    private static let daySlot = JSONSchema.object([
        .member("id", .uuid), .member("title", .text()), .member("hasOwnTask", .boolean),
        .member("hasSomebodyElse", .boolean), .optional("partnerTask", .text()), .optional("roomId", .uuid),
    ])
}
