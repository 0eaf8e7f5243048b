import Domain
import Server
import Wire

/// The descriptions of the routes of series.
enum SeriesDescriptions {
    static let begin = RouteDescription(
        "Create a task that repeats on certain days of every week",
        details: """
            Tasks are created for the next 14 days, at startTime in timeZone. A day is skipped if the device has \
            another task at that time, or has cancelled the series' task of that day. A repeated request returns the \
            series unchanged.
            """,
        body: .init(
            .object([
                .member("deviceId", .device), .member("title", .title), .member("startTime", wallTime),
                .member("timeZone", .zone), .member("days", .array(weekday)),
                .optional("until", day),
            ]),
            example: """
                {"deviceId":"anna-7c1f","title":"History","startTime":"09:00","timeZone":"Europe/London","days":["mon","wed"]}
                """),
        answers: [
            .json(201, "The series with its first tasks.", series), .json(200, "The series exists already.", series),
            .refusal(
                409, "series_exists",
                meaning: "The device has a series at the same time with another title, end or set of days."),
            .refusal(
                429, "too_many_series", "too_many_tasks",
                meaning: "The device has the maximum number of series or tasks."),
            .storageFull,
        ],
        example: "/series")

    static let list = RouteDescription(
        "List a device's series", parameters: [.device(.device)],
        answers: [.json("Each series with its future tasks.", .object([.member("series", .array(series))]))],
        example: "'/series?deviceId=anna-7c1f'")

    static let rename = RouteDescription(
        "Rename a series from a certain day",
        parameters: [.path("id", "The series.", .uuid)],
        body: .init(
            .object([.member("deviceId", .device), .member("title", .title), .optional("from", day)]),
            example: #"{"deviceId":"anna-7c1f","title":"Greek"}"#),
        answers: [
            .json("The series.", series), .refusal(404, "no_such_series", meaning: "The device has no such series."),
        ])

    static let end = RouteDescription(
        "End a series",
        details: "Cancels the series' tasks that have no partner. The answer lists the tasks that remain.",
        parameters: [
            .path("id", "The series.", .uuid), .device(.device),
            .optional("leave", "Whether to cancel tasks that have a partner, too.", .enum(["true", "false"])),
        ],
        answers: [
            .json("The series before it ended, with the tasks that remain.", series),
            .refusal(404, "no_such_series", meaning: "The device has no such series."),
        ])

    private static let day = JSONSchema.text(format: "date")
    private static let weekday = JSONSchema.shared("Weekday", .enum(Weekdays.names))
    private static let wallTime = JSONSchema.text(pattern: "^[0-9]{2}:[0-9]{2}(:[0-9]{2})?$")

    private static let series = JSONSchema.shared(
        "Series",
        .object([
            .member("id", .uuid), .member("deviceId", .device), .member("title", .text()),
            .optional("laterTitle", .text()),
            .optional("laterFrom", day), .member("startTime", wallTime), .member("timeZone", .zone),
            .member("days", .array(weekday)), .optional("until", day),
            .member("tasks", .array(.task)),
        ]))
}
