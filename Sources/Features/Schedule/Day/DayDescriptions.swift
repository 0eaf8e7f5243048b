import Domain
import Server
import Wire

/// The descriptions of the routes of days.
enum DayDescriptions {
    static let sessions = RouteDescription(
        "Get a day in the iOS app's format",
        details: "The sixteen sessions of a day. The array has a time, then its slot, and so on.",
        body: .init(
            .object([
                .member("deviceId", .device), .member("date", .date), .optional("timeZone", .zone),
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
            .device(.device), .query("date", "The date.", .date),
            .optional("timeZone", "The date's time zone. The default is the zone of the device's latest task.", .zone),
        ],
        answers: [.json("The day.", .object([.member("schedule", .map(daySlot))]))],
        example: "'/schedule?deviceId=anna-7c1f&date=2026-11-22&timeZone=Europe/London'")

    private static let daySlot = JSONSchema.shared(
        "DaySlot",
        .object([
            .member("id", .uuid), .member("title", .text()), .member("hasOwnTask", .boolean),
            .member("hasSomebodyElse", .boolean), .optional("partnerTask", .text()), .optional("roomId", .uuid),
        ]))
}
