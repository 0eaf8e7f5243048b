import Domain
import Foundation
import JourneyTestSupport
import Schedule
import Server
import Settings
import TestSupport
import Testing

/// Limits on requests and stored data, over the wire.
@Suite struct QuotaJourneyTests {
    private static func forwarded(_ address: String) -> TestHeaders { ["X-Forwarded-For": address] }

    private static func task(_ device: String, _ start: Instant, _ title: String = "x") -> [UInt8] {
        Array(#"{"deviceId":"\#(device)","title":"\#(title)","startsAt":"\#(start)"}"#.utf8)
    }

    @Test("A flood from one address gets 429 without affecting others")
    func flood() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                ($0.limits.requestRate, $0.limits.writeRate, $0.limits.registrationsPerDay) = (1, 1, 20)
                // The burst allows the registrations of this test but not all its requests.
                $0.limits.addressBurst = .seconds(250)
            }
            let start = try await journey.instant(in: 3600)
            let stranger = try await HTTPTestClient.connect(to: endpoint)
            var statuses: [Int: Int] = [:]
            for number in 0..<200 {
                let response = try await stranger.request(
                    "POST", "/task", headers: Self.forwarded("203.0.113.7"), body: Self.task("made-up-\(number)", start)
                )
                statuses[response.status, default: 0] += 1
                guard response.status == 429 else { continue }
                #expect(["too_many_requests", "too_many_registrations"].contains(response.code))
                #expect(Int(response.headers["Retry-After"] ?? "") ?? 0 > 0)
                // At 20 registrations a day the next is accepted after a twentieth of a day.
                if response.code == "too_many_registrations" { #expect(response.headers["Retry-After"] == "4321") }
            }
            #expect(statuses == [201: 20, 429: 180])
            var reads: [Int: Int] = [:]
            for _ in 0..<1000 {
                let response = try await stranger.request(
                    "GET", "/healthz", headers: Self.forwarded("203.0.113.7"))
                reads[response.status, default: 0] += 1
            }
            #expect(reads[429] ?? 0 > 0)

            let other = try await stranger.request(
                "POST", "/task", headers: Self.forwarded("203.0.113.8"), body: Self.task("ada", start))
            #expect(other.status == 201)
            for number in 0..<50 {
                let response = try await stranger.request("POST", "/task", body: Self.task("local-\(number)", start))
                #expect(response.status == 201)
            }
            let metrics = try await MetricsReading(endpoint)
            for cause in ["request-rate", "registrations-per-day"] {
                #expect(metrics["letsswitch_requests_refused_total{cause=\"\(cause)\"}"] > 0, "\(cause)")
            }
        }
    }

    @Test(
        "An address may register a limited number of names per hour"
    )
    func names() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.limits.namesPerHour = 5 }
            let client = try await HTTPTestClient.connect(to: endpoint)
            func take(_ device: Int, _ name: Int, for address: String?) async throws -> TestResponse {
                try await client.request(
                    "POST", "/users", headers: address.map(Self.forwarded) ?? [:],
                    body: Array(#"{"deviceId":"d\#(device)","name":"user\#(name)"}"#.utf8))
            }
            for number in 1...5 {
                #expect(try await take(number, number, for: "203.0.113.7").status == 201)
                #expect(try await take(number, number, for: "203.0.113.7").status == 200)
                #expect(try await take(99, number, for: "203.0.113.7").status == 409)
            }
            let refused = try await take(11, 11, for: "203.0.113.7")
            #expect(refused.status == 429 && refused.code == "too_many_names")
            // A fifth of an hour.
            #expect(refused.headers["Retry-After"] == "720")
            #expect(try await take(11, 11, for: "203.0.113.8").status == 201)
            for number in 12...30 { #expect(try await take(number, number, for: nil).status == 201) }
            let metrics = try await MetricsReading(endpoint)
            #expect(metrics["letsswitch_turned_away_total{cause=\"names-per-hour\"}"] == 1)
        }
    }

    @Test("A full quota or table is refused with its code, and counted")
    func quotas() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                ($0.schedule.maxTasksPerDevice, $0.storage.tasks, $0.storage.addresses, $0.storage.calendars) = (
                    2, 3, 1, 1
                )
            }
            let start = try await journey.instant(in: 3600)
            let client = try await HTTPTestClient.connect(to: endpoint)
            func post(_ path: String, _ body: [UInt8]) async throws -> (status: Int, code: String?) {
                let response = try await client.request("POST", path, body: body)
                return (response.status, response.status < 300 ? nil : response.code)
            }
            for second in 0..<2 {
                #expect(
                    try await post("/task", Self.task("ada", Instant(seconds: start.seconds + second))).status == 201)
            }
            // A row that is stored during a count may count twice until the next count.
            _ = try await MetricsReading.wait(at: endpoint) { $0[#"letsswitch_stored_rows{table="tasks"}"#] == 2 }
            #expect(
                try await post("/task", Self.task("ada", Instant(seconds: start.seconds + 2)))
                    == (429, "too_many_tasks"))
            try await eventually("there is room for a third task") {
                try await post("/task", Self.task("bob", start)).status == 201
            }
            #expect(try await post("/task", Self.task("cleo", start)) == (503, "storage_full"))
            #expect(try await post("/task", Self.task("bob", start, "y")).status == 200)

            func device(_ name: String, _ more: String = "") -> [UInt8] {
                Array(#"{"deviceId":"\#(name)"\#(more)}"#.utf8)
            }
            #expect(try await post("/token", device("ada", #","token":"aa","debug":false"#)).status == 200)
            #expect(try await post("/token", device("bob", #","token":"bb","debug":false"#)) == (503, "storage_full"))
            #expect(try await post("/token", device("ada", #","token":"ab","debug":false"#)).status == 200)
            #expect(try await post("/calendar", device("ada")).status == 200)
            #expect(try await post("/calendar", device("bob")) == (503, "storage_full"))
            let metrics = try await MetricsReading(endpoint)
            for cause in ["max-tasks-per-device", "max-stored-addresses", "max-stored-calendars"] {
                #expect(metrics["letsswitch_turned_away_total{cause=\"\(cause)\"}"] == 1, "\(cause)")
            }
            #expect(metrics[#"letsswitch_turned_away_total{cause="max-stored-tasks"}"#] >= 1)
            #expect(metrics[#"letsswitch_stored_rows_limit{table="tasks"}"#] == 3)
        }
    }
}
