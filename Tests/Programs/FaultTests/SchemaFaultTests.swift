import Domain
import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// A database that answers, but lacks the product's tables or functions.
@Suite struct SchemaFaultTests {
    @Test("Without the server's tables, every request gets 503")
    func absent() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let requests: [(method: String, target: String, body: TestJSON?, served: Int)] = [
                ("GET", "/socket?id=\(UUID())", nil, 404),
                ("POST", "/token", ["deviceId": "ada", "token": "00ff", "debug": false], 200),
                ("DELETE", "/task/\(UUID())?deviceId=ada", nil, 404),
                ("DELETE", "/device?deviceId=ada", nil, 200),
            ]
            func statuses() async throws -> [Int] {
                try await requests.asyncMap {
                    try await HTTPTestClient.request(at: endpoint, $0.method, $0.target, json: $0.body).status
                }
            }
            try await journey.sql("ALTER SCHEMA schedule RENAME TO elsewhere")
            #expect(try await statuses() == requests.map { _ in 503 })
            #expect(try await HTTPTestClient.request(at: endpoint, "GET", "/reminders?deviceId=ada").status == 503)
            try await journey.sql("ALTER SCHEMA elsewhere RENAME TO schedule")
            #expect(try await statuses() == requests.map(\.served))
        }
    }

    @Test("A purge that fails delays no reminder")
    func unpurgeable() async throws {
        try await Journey.run { journey in
            try await journey.sql("ALTER FUNCTION reminders.delete_old RENAME TO test_purge")
            let endpoint = try await journey.daemon()
            let stream = try await endpoint.reminders(of: "ada")
            let start = try await journey.instant(in: 3600)
            for number in 0..<3 {
                let slot = Instant(seconds: start.seconds + number)
                try await endpoint.register("ada", slot, "Task \(number)")
                try await journey.advance(to: slot, -60)
                #expect(try await stream.nextReminder().title == "Task \(number)")
            }
            let failed = try await MetricsReading(endpoint)[#"letsswitch_db_queries_total{outcome="failed"}"#]
            #expect(failed == 1)
        }
    }
}
