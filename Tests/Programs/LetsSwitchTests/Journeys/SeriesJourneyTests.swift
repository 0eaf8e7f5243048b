import Domain
import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// Users that register a series: one task a day.
@Suite struct SeriesJourneyTests {
    private static func request(_ device: String, _ time: String, _ title: String = "History") -> TestJSON {
        [
            "deviceId": .string(device), "title": .string(title), "startTime": .string(time), "timeZone": "UTC",
            "days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
        ]
    }

    /// Returns the time of day two hours from now, so that no task starts during the test. Midnight may be between now
    /// and then.
    private static func time(_ journey: Journey) async throws -> String {
        String("\(try await journey.instant(in: 7200))".dropFirst(11).prefix(5))
    }

    @Test("A series is created, listed, renamed and ended")
    func series() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let time = try await Self.time(journey)
            let stream = try await endpoint.reminders(of: "anna")
            let begun = try await endpoint.post("/series", Self.request("anna", time))
            #expect(begun.status == 201)
            let series = try begun.json()
            let tasks = try #require(series["tasks"].array)
            #expect(
                tasks.count >= 14 && tasks.allSatisfy { $0["seriesId"] == series["id"] && $0["title"] == "History" })
            let first = try #require(tasks[0]["startsAt"].string)
            #expect(try await stream.nextChange() == first)
            #expect(try await endpoint.post("/series", Self.request("anna", time)).status == 200)
            #expect(try await endpoint.post("/series", Self.request("anna", time, "Art")).code == "series_exists")
            #expect(try await endpoint.get("/series?deviceId=anna").json()["series"] == [series])
            let day = try await endpoint.get("/schedule?deviceId=anna&date=\(first.prefix(10))&timeZone=UTC").json()
            #expect(day["schedule"][time]["title"] == "History")
            let feed = try await endpoint.post("/calendar", ["deviceId": "anna"]).json()["url"].string
            let calendar = try await endpoint.get(try #require(feed)).text
            for task in tasks { #expect(calendar.contains("UID:\(try #require(task["id"].string))\r\n")) }

            let second = try #require(tasks[1]["id"].string)
            let deleted = try await HTTPTestClient.request(at: endpoint, "DELETE", "/task/\(second)?deviceId=anna")
            #expect(deleted.status == 200)
            let id = try #require(series["id"].string)
            let third = try #require(tasks[2]["startsAt"].string)
            let renamed = try await endpoint.post(
                "/series/\(id)", ["deviceId": "anna", "title": "Art", "from": .string(String(third.prefix(10)))])
            #expect(renamed.status == 200)
            let titles = try (renamed.json()["tasks"].array ?? []).map { $0["title"].string }
            #expect(titles == ["History"] + Array(repeating: "Art", count: tasks.count - 2))

            // Ben becomes the partner of the first task.
            let start = try #require(Instant(first))
            #expect(try await endpoint.register("ben", start, "Maths").isPaired)
            let foreign = try await HTTPTestClient.request(at: endpoint, "DELETE", "/series/\(id)?deviceId=ben")
            #expect(foreign.code == "no_such_series")
            let ended = try await HTTPTestClient.request(at: endpoint, "DELETE", "/series/\(id)?deviceId=anna")
            #expect(ended.status == 200)
            #expect(try ended.json()["tasks"].array?.map { $0["partnerTitle"] } == ["Maths"])
            #expect(try await endpoint.get("/series?deviceId=anna").json()["series"] == [])
        }
    }

    @Test("Ending a series with its matched tasks notifies the partners")
    func leave() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let time = try await Self.time(journey)
            let series = try await endpoint.post("/series", Self.request("anna", time)).json()
            let first = try #require(series["tasks"][0]["startsAt"].string.flatMap { Instant($0) })
            #expect(try await endpoint.register("ben", first, "Maths").isPaired)
            let stream = try await endpoint.reminders(of: "ben")
            let id = try #require(series["id"].string)
            let ended = try await HTTPTestClient.request(
                at: endpoint, "DELETE", "/series/\(id)?deviceId=anna&leave=true")
            #expect(try ended.json()["tasks"] == [])
            #expect(try await stream.nextChange() == "\(first)")
            #expect(try await endpoint.register("ben", first, "Maths").isPaired == false)
            for (member, value): (String, TestJSON) in [
                ("days", ["monday"]), ("days", []), ("startTime", "24:00"), ("timeZone", "Mars/Base"),
                ("until", "soon"),
                ("until", "2020-01-01"), ("title", " "),
            ] {
                var request = try #require(Self.request("cleo", time).object)
                request[member] = value
                let refused = try await endpoint.post("/series", .object(request))
                #expect(refused.status == 400 && refused.text.contains(member), "\(member)")
            }
        }
    }

    @Test("Only one of several daemons creates the tasks of a series")
    func ahead() async throws {
        try await Journey.run { journey in
            let daemon = try await journey.daemon()
            let time = try await Self.time(journey)
            let before = try await daemon.post("/series", Self.request("anna", time)).json()
            let count = try #require(before["tasks"].array?.count)
            try await journey.sql(
                "UPDATE schedule.series SET next_check_at = core.clock(), created_until = created_until - 1")
            try await journey.sql(
                "DELETE FROM schedule.due WHERE task_id = (SELECT id FROM schedule.task ORDER BY starts_at DESC LIMIT 1)"
            )
            try await journey.sql(
                "DELETE FROM schedule.task WHERE id = (SELECT id FROM schedule.task ORDER BY starts_at DESC LIMIT 1)"
            )
            #expect(
                try await daemon.get("/series?deviceId=anna").json()["series"][0]["tasks"].array?.count == count - 1)
            // A daemon looks for missing tasks as soon as it starts.
            let other = try await journey.daemon()
            try await eventually("the last day's promise is made") {
                try await other.get("/series?deviceId=anna").json()["series"][0]["tasks"].array?.count == count
            }
            #expect(try await MetricsReading(other)[#"letsswitch_tasks_total{outcome="registered"}"#] == 1)
        }
    }
}
