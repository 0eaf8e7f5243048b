import Domain
import Server
import Wire

/// The schemas that several routes of the schedule share.
extension JSONSchema {
    static let task = shared(
        "Task",
        .object([
            .member("id", .uuid), .member("deviceId", .device), .member("title", .text()),
            .member("startTime", .text()),
            .member("timeZone", .zone), .member("startsAt", .instant), .member("remindsAt", .instant),
            .member("isPaired", .boolean), .optional("partnerTitle", .text()), .member("socketId", .uuid),
            .optional("seriesId", .uuid), .optional("invitation", .text()),
        ]))

    static let slot: [Member] = [
        .member("deviceId", .device), .optional("startsAt", .instant), .optional("date", date),
        .optional("startTime", .text(pattern: "^[0-9]{2}:[0-9]{2}(:[0-9]{2})?$")),
    ]

    static let date = described(
        "A date such as 2026-11-22, or the instant of the device's midnight on that date.", .text())
}
