import Domain
import Scheduling
import Server
import Wire

/// The descriptions of the routes of series.
enum SeriesDescriptions {
    static let begin = RouteDescription(
        "Promise the same on certain days of every week",
        details: """
            Promises are made two weeks ahead, when the zone's clocks show startTime. A day that the device has promised something else \
            for then is left alone, and so is one whose promise was taken back. A repeat is harmless.
            """,
        body: .init(
            .object([
                .member("deviceId", .device), .member("title", .title), .member("startTime", wallTime),
                .member("timeZone", .zone), .member("days", .array(.words(Weekdays.names))),
                .optional("until", day),
            ]),
            example: """
                {"deviceId":"anna-7c1f","title":"History","startTime":"09:00","timeZone":"Europe/London","days":["mon","wed"]}
                """),
        answers: [
            .json(201, "the series with its first promises", series), .json(200, "it was there already", series),
            .refusal(409, "series_exists", meaning: "another title, end, or set of days, at the same time"),
            .refusal(429, "too_many_series", "too_many_tasks", meaning: "the device has as many as it may"),
            .refusal(503, "storage_full", meaning: "as much is kept as may be"),
        ],
        example: "/series")

    static let list = RouteDescription(
        "A device's series", parameters: [.device(.device)],
        answers: [.json("each with its promises", .object([.member("series", .array(series))]))],
        example: "'/series?deviceId=anna-7c1f'")

    static let rename = RouteDescription(
        "Call a series something else, from a day on",
        parameters: [.path("id", "The series.", .uuid)],
        body: .init(
            .object([.member("deviceId", .device), .member("title", .title), .optional("from", day)]),
            example: #"{"deviceId":"anna-7c1f","title":"Greek"}"#),
        answers: [.json("the series", series), .refusal(404, "no_such_series", meaning: "there is none")])

    static let end = RouteDescription(
        "End a series",
        details: "Promises that nobody counts on are taken back; those that stay are in the answer.",
        parameters: [
            .path("id", "The series.", .uuid), .device(.device),
            .optional("leave", "Also promises that somebody counts on.", .words(["true", "false"])),
        ],
        answers: [.json("the series as it was", series), .refusal(404, "no_such_series", meaning: "there is none")])

    private static let day = JSONSchema.text(format: "date")
    private static let wallTime = JSONSchema.text(pattern: "^[0-9]{2}:[0-9]{2}(:[0-9]{2})?$")

    private static let series = JSONSchema.object([
        .member("id", .uuid), .member("deviceId", .device), .member("title", .text()), .optional("laterTitle", .text()),
        .optional("laterFrom", day), .member("startTime", wallTime), .member("timeZone", .zone),
        .member("days", .array(.words(Weekdays.names))), .optional("until", day),
        .member("tasks", .array(TaskDescriptions.task)),
    ])
}
