import Domain
import Foundation
import JourneyTestSupport
import TestSupport
import Testing

@Suite struct DowntimeTests {
    @Test("After downtime, useful reminders fire once and the rest are missed")
    func acrossDueTimes() async throws {
        try await Journey.run { journey in
            let first = try await journey.process()
            let start = try await journey.instant(in: 3600)
            // The tasks aren't registered in the order in which they are due.
            let useful = [(40, "Fourth"), (10, "First"), (30, "Third"), (20, "Second")]
            for (seconds, title) in useful {
                for device in ["ada", "bob"] {
                    try await first.endpoint.register(device, Instant(seconds: start.seconds + seconds), title)
                }
            }
            let late = try await first.endpoint.register("ada", start, "Too late")
            try await first.daemon.kill9()
            // The first task has started. The leads of the others have begun, the last one 20 seconds ago.
            try await journey.advance(to: start, 2)

            let (daemon, endpoint) = try await journey.process()
            let missed = try await daemon.waitForLog("reminder missed")
            #expect(missed["taskId"].string == late.id.uuidString)
            var lateness: [Int] = []
            for _ in 0..<8 { lateness.append(try #require(try await daemon.waitForLog("reminder")["late_ms"].int)) }
            // Each reminder has its lateness. The one that was due first comes first.
            #expect(lateness == lateness.sorted(by: >))
            #expect(lateness.allSatisfy { $0 >= 20_000 })
            let ada = try await endpoint.reminders(of: "ada")
            let bob = try await endpoint.reminders(of: "bob")
            for stream in [ada, bob] {
                let titles = try await (0..<4).map { $0 }.asyncMap { _ in try await stream.nextReminder().title }
                #expect(titles == ["First", "Second", "Third", "Fourth"])
            }
            try await journey.wait(
                until: "(SELECT count(*) FROM reminders.reminder WHERE state = 'delivered') = 8")
            #expect(
                try await journey.count(
                    "reminders.reminder WHERE state = 'missed' AND task_id = '\(late.id)'") == 1)
            #expect(try await journey.count("reminders.reminder") == 9)
            // Reminders come once: the next one is the new one.
            let next = try await journey.instant(in: 3600)
            for device in ["ada", "bob"] { try await endpoint.register(device, next, "Next") }
            try await journey.advance(to: next, -60)
            for stream in [ada, bob] { #expect(try await stream.nextReminder().title == "Next") }
        }
    }
}
