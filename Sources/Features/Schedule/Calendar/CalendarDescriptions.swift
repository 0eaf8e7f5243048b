import Domain
import Server
import Wire

enum CalendarDescriptions {
    static let subscribe = RouteDescription(
        "Create a calendar of your tasks",
        body: .init(.object([.member("deviceId", .device)]), example: #"{"deviceId":"anna-7c1f"}"#),
        answers: [
            .json("The calendar's address. It is a secret.", .object([.member("url", .text())])),
            .storageFull,
        ], example: "/calendar")

    static let revoke = RouteDescription(
        "Remove the calendar", parameters: [.device(.device)],
        answers: [.json("The calendar is removed.", .emptyObject)],
        example: "'/calendar?deviceId=anna-7c1f' -X DELETE")

    static let read = RouteDescription(
        "Get the calendar, for calendar programs",
        parameters: [
            .path("file", "The calendar's secret, followed by .ics.", .text()),
            .header("If-None-Match", "The ETag of the copy that you have.", .text()),
        ],
        answers: [
            .other("The calendar.", "text/calendar"), .nothing(304, "The calendar hasn't changed."),
            .refusal(404, "no_such_calendar", meaning: "There is no such calendar."),
        ])
}
