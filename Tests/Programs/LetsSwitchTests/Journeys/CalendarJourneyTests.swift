import Domain
import Foundation
import JourneyTestSupport
import TestSupport
import Testing

@Suite struct CalendarJourneyTests {
    private static func subscribe(_ device: String, at endpoint: ClientEndpoint) async throws -> String {
        let answer = try await endpoint.post("/calendar", ["deviceId": .string(device)])
        #expect(answer.status == 200)
        return try #require(try answer.json()["url"].string)
    }

    @Test("A feed shows only the device's own tasks")
    func feedShowsDevicesTasksAndNobodyElses() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 7200)
            let url = try await Self.subscribe("anna", at: endpoint)
            #expect(url.hasPrefix("/calendar/") && url.hasSuffix(".ics") && url.utf8.count == 10 + 24 + 4)
            #expect(try await Self.subscribe("anna", at: endpoint) == url)
            #expect(try await Self.subscribe("ben", at: endpoint) != url)

            let empty = try await endpoint.get(url)
            #expect(empty.status == 200)
            #expect(empty.headers["Content-Type"] == "text/calendar; charset=utf-8")
            #expect(empty.headers["Cache-Control"] == "private, no-cache")
            #expect(empty.text.contains("BEGIN:VTIMEZONE"))

            let task = try await endpoint.register("anna", start)
            try await endpoint.register("cleo", Instant(seconds: start.seconds + 60), "Latin")
            let alone = try await endpoint.get(url)
            #expect(alone.text.contains("UID:\(task.id.uuidString)\r\n"))
            #expect(alone.text.contains("SUMMARY:History\r\n"))
            #expect(alone.text.contains("SEQUENCE:1\r\n"))
            #expect(!alone.text.contains("Latin"))

            try await endpoint.register("ben", start, "Maths")
            let paired = try await endpoint.get(url)
            #expect(paired.text.contains("UID:\(task.id.uuidString)\r\n"))
            #expect(paired.text.contains("SUMMARY:History (with: Maths)\r\n"))
            #expect(paired.text.contains("SEQUENCE:2\r\n"))
            // The feed has the same bytes until a task changes.
            #expect(try await endpoint.get(url).body == paired.body)
        }
    }

    @Test("A program that has the current feed gets 304")
    func programThatHasCurrentFeedGets304() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let url = try await Self.subscribe("anna", at: endpoint)
            let first = try await endpoint.get(url)
            let tag = try #require(first.headers["ETag"])
            for value in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let again = try await HTTPTestClient.request(
                    at: endpoint, "GET", url, headers: ["If-None-Match": value])
                #expect(again.status == 304, "\(value)")
                #expect(again.body.isEmpty)
                #expect(again.headers["ETag"] == tag)
            }
            let head = try await HTTPTestClient.request(at: endpoint, "HEAD", url)
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            #expect(head.headers["Content-Length"] == "\(first.body.count)")
            #expect(head.headers["ETag"] == tag)
            try await endpoint.register("anna", try await journey.instant(in: 7200))
            let changed = try await HTTPTestClient.request(at: endpoint, "GET", url, headers: ["If-None-Match": tag])
            #expect(changed.status == 200)
            #expect(changed.headers["ETag"] != tag)
        }
    }

    @Test("A feed ends when it is revoked or the user is erased")
    func feedEndsWhenItIsRevokedAndWhenPersonIsErased() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let first = try await Self.subscribe("anna", at: endpoint)
            func delete(_ target: String) async throws -> Int {
                try await HTTPTestClient.request(at: endpoint, "DELETE", target).status
            }
            #expect(try await delete("/calendar?deviceId=anna") == 200)
            #expect(try await endpoint.get(first).status == 404)
            let second = try await Self.subscribe("anna", at: endpoint)
            #expect(second != first)
            try await endpoint.register("anna", try await journey.instant(in: 7200))
            #expect(try await delete("/device?deviceId=anna") == 200)
            #expect(try await endpoint.get(second).status == 404)
            #expect(try await journey.count("schedule.calendar") == 0)
            #expect(try await journey.count("schedule.task") == 0)
            // Names that belong to no feed.
            for file in ["x", "x.ics", ".ics", String(repeating: "A", count: 24), "\(second.dropFirst(10))x"] {
                let answer = try await endpoint.get("/calendar/\(file)")
                #expect(answer.status == 404)
                #expect(try answer.json()["code"] == "no_such_calendar")
            }
            #expect(try await endpoint.post("/calendar", [:]).status == 400)
            #expect(try await endpoint.post("/calendar", ["deviceId": " "]).status == 400)
            #expect(try await delete("/calendar") == 400)
        }
    }

    /// The tasks are before and after London's clock change, and one title has characters that must be escaped and is
    /// long enough to be folded.
    @Test(
        "A foreign parser finds the instants and the texts",
        .enabled(if: PythonPackages.ofTests.areInstalled, Comment(rawValue: PythonPackages.ofTests.hint)))
    func foreignParserFindsInstantsAndTexts() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let title = "Piano, then \\ tea; \"quietly\"\n語🎹 " + String(repeating: "é", count: 120)
            try await journey.advance(to: try #require(Instant("2027-03-26T12:00:00Z")))
            for (day, words) in [("2027-03-27", "before"), ("2027-03-29", title)] {
                let task: TestJSON = [
                    "deviceId": "anna", "title": .string(words), "date": .string(day), "startTime": "09:00",
                    "timeZone": "Europe/London",
                ]
                #expect(try await endpoint.post("/task", task).status == 201)
            }
            let url = try await Self.subscribe("anna", at: endpoint)
            let text = try await endpoint.get(url).text
            let calendar = try await PythonPackages.ofTests.run(Self.parser, ["calendar": .string(text)])
            #expect(calendar["name"] == "Let's Switch")
            #expect(calendar["errors"] == [])
            let events = try #require(calendar["events"].array)
            #expect(events.map { $0["start"] } == ["2027-03-27T09:00:00+00:00", "2027-03-29T08:00:00+00:00"])
            #expect(events.map { $0["london"] } == ["09:00", "09:00"])
            #expect(events.map { $0["end"] } == ["2027-03-27T10:00:00+00:00", "2027-03-29T09:00:00+00:00"])
            #expect(events.map { $0["alarm"] } == ["2027-03-27T08:59:00+00:00", "2027-03-29T07:59:00+00:00"])
            #expect(events.map { $0["summary"] } == ["before", .string(title)])
            #expect(Set(events.map { $0["uid"].string }).count == 2)
        }
    }

    private static let parser = """
        import json, sys, zoneinfo
        from icalendar import Calendar
        calendar = Calendar.from_ical(json.loads(sys.stdin.readline())["calendar"])
        events = []
        for event in calendar.walk("VEVENT"):
            start = event.decoded("DTSTART")
            alarm = event.walk("VALARM")[0]
            events.append({
                "uid": str(event["UID"]), "summary": str(event["SUMMARY"]), "start": start.isoformat(),
                "london": start.astimezone(zoneinfo.ZoneInfo("Europe/London")).strftime("%H:%M"),
                "end": event.decoded("DTEND").isoformat(),
                "alarm": (start + alarm.decoded("TRIGGER")).isoformat(),
            })
        errors = [str(error) for part in calendar.walk() for error in part.errors]
        print(json.dumps({"name": str(calendar["X-WR-CALNAME"]), "events": events, "errors": errors}))
        """
}
