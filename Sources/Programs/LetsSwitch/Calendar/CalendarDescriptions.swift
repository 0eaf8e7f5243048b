import Domain
import Server
import Wire

enum CalendarDescriptions {
    static let subscribe = RouteDescription(
        "Have one's tasks in a calendar",
        body: .init(.object([.member("deviceId", .device)]), example: #"{"deviceId":"anna-7c1f"}"#),
        answers: [
            .json("where it is; a secret", .object([.member("url", .text())])),
            .refusal(503, "storage_full", meaning: "as much is kept as may be"),
        ], example: "/calendar")

    static let revoke = RouteDescription(
        "End that calendar", parameters: [.device(.device)], answers: [.json("done", .nothingToSay)],
        example: "'/calendar?deviceId=anna-7c1f' -X DELETE")

    static let read = RouteDescription(
        "The calendar, for calendar programs",
        parameters: [
            .path("file", "The secret, and .ics.", .text()),
            .header("If-None-Match", "The ETag of what one has.", .text()),
        ],
        answers: [
            .other("the calendar", "text/calendar"), .nothing(304, "it is as it was"),
            .refusal(404, "no_such_calendar", meaning: "there is none"),
        ])
}
