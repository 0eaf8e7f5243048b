import Domain
import Foundation
import JourneyTestSupport
import Postgres
import ScheduleTestSupport
import Server
import Settings
import TestSupport
import Testing

@testable import Schedule

/// A reminder that can't be delivered.
@Suite struct PoisonTests {
    /// Makes every write of this task's reminder fail.
    private func poison(_ task: UUID, on change: String = "INSERT OR UPDATE", in journey: Journey) async throws {
        try await journey.sql(
            """
            CREATE FUNCTION letsswitch.test_poison() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'poison'; END $$
            """)
        try await journey.sql(
            """
            CREATE TRIGGER test_poison BEFORE \(change) ON reminders.reminder FOR EACH ROW
            WHEN (NEW.task_id = '\(task)') EXECUTE FUNCTION letsswitch.test_poison()
            """)
    }

    /// Returns the number of failed attempts, the time of the next one, and the clock's time. Times are in seconds
    /// after `start`.
    private func due(_ task: UUID, _ start: Instant, in journey: Journey) async throws -> (
        failures: Int, retry: Double, clock: Double
    ) {
        let rows = try await journey.sql(
            """
            SELECT failures, (extract(epoch FROM retry_at) - \(start.seconds))::float8 AS retry,
                (extract(epoch FROM core.clock()) - \(start.seconds))::float8 AS clock
            FROM schedule.due WHERE task_id = '\(task)'
            """)
        return (try rows[0].integer("failures"), try rows[0].double("retry"), try rows[0].double("clock"))
    }

    @Test(
        "A reminder that can't be claimed is retried with growing delays")
    func unclaimable() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 3600)
            for number in 0..<10 { try await endpoint.register("d\(number)", start) }
            let poisoned = try await endpoint.register("mallory", start)
            try await poison(poisoned.id, in: journey)
            let streams = try await (0..<10).map { "d\($0)" }.asyncMap { try await endpoint.reminders(of: $0) }
            try await journey.advance(to: start, -60)
            for stream in streams { _ = try await stream.nextReminder() }
            try await journey.expectDelivered(10, besides: 1)
            #expect(try await due(poisoned.id, start, in: journey).failures >= 1)

            // Later reminders are unaffected.
            let later = Instant(seconds: start.seconds + 30)
            try await endpoint.register("d0", later, "Later")
            try await journey.advance(to: later, -60)
            #expect(try await streams[0].nextReminder().title == "Later")
            // The delay doubles each time, unless the start is closer. On a slow machine there were more attempts by
            // then.
            var tried = try await due(poisoned.id, start, in: journey)
            var since = -30.0
            for clock in [-25.0, -20, -11] {
                try await journey.advance(to: start, clock)
                try await journey.wait(until: "EXISTS (SELECT FROM schedule.due WHERE failures > \(tried.failures))")
                tried = try await due(poisoned.id, start, in: journey)
                #expect(tried.retry >= min(0, since + pow(2, Double(min(tried.failures - 1, 6)))), "\(tried)")
                // On a very slow machine the start may be over. Then the task was set aside.
                #expect(tried.retry <= 0 || tried.retry > 80_000 && tried.clock >= 0, "\(tried)")
                since = clock
                if tried.retry > 0 { break }
            }
            // The start is the last try before it is set aside.
            try await journey.advance(to: start)
            try await journey.wait(
                until: "EXISTS (SELECT FROM schedule.due WHERE retry_at > to_timestamp(\(start.seconds + 80_000)))")
            // It isn't retried in a loop.
            let before = try await MetricsReading(endpoint)[#"letsswitch_db_queries_total{outcome="failed"}"#]
            try await journey.advance(to: start, 5)
            try await journey.wait(until: "(SELECT count(*) FROM reminders.reminder WHERE state = 'delivered') = 11")
            let after = try await MetricsReading(endpoint)[#"letsswitch_db_queries_total{outcome="failed"}"#]
            #expect(after == before)

            // When the fault is removed, the task becomes history like any other.
            try await journey.sql("DROP TRIGGER test_poison ON reminders.reminder")
            try await journey.advance(to: start, 90_000)
            try await journey.wait(
                until: "EXISTS (SELECT FROM reminders.reminder WHERE task_id = '\(poisoned.id)' AND state = 'missed')")
            #expect(try await journey.count("schedule.due") == 0)
        }
    }

    @Test("A reminder that can't be marked as delivered isn't retried in a loop")
    func unmarkable() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 3600)
            let devices = (0..<20).map { "d\($0)" }
            let tasks = try await devices.asyncMap { try await endpoint.register($0, start) }
            let streams = try await devices.asyncMap { try await endpoint.reminders(of: $0) }
            try await poison(tasks[7].id, on: "UPDATE", in: journey)
            try await journey.advance(to: start, -60)
            for stream in streams { _ = try await stream.nextReminder() }
            try await journey.wait(until: "(SELECT count(*) FROM reminders.reminder WHERE state = 'delivered') = 19")
            // The task can't be marked as missed either, so that is postponed.
            try await journey.advance(to: start, 3)
            try await journey.wait(
                until: "(SELECT expires_at > core.clock() + interval '50 seconds' FROM reminders.claim)")
            try await journey.sql("DROP TRIGGER test_poison ON reminders.reminder")
            try await journey.advance(to: start, 64)
            try await journey.wait(
                until: "EXISTS (SELECT FROM reminders.reminder WHERE task_id = '\(tasks[7].id)' AND state = 'missed')")
            let next = try await journey.instant(in: 3600)
            try await endpoint.register("d7", next, "Next")
            try await journey.advance(to: next, -60)
            #expect(try await streams[7].nextReminder().title == "Next")
        }
    }

    @Test("A reminder whose reader doesn't read delays no other")
    func unread() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemonOnUnixSocket {
                $0.schedule.reminderLead = .seconds(1800)
                $0.limits.sendQueueBytes = 4 << 20
                // Enough for the one who reads, on a busy machine.
                $0.limits.writeTimeout = .seconds(10) * TimeAllowance.factor
            }
            let start = try await journey.instant(in: 7200)
            let count = 250
            for device in ["mallory", "trudy"] {
                try await register(count, of: device, from: start, lead: 1800, in: journey)
            }
            let last = Instant(seconds: start.seconds + count)
            try await endpoint.register("ada", last)
            let ada = try await endpoint.reminders(of: "ada")
            // Nothing reads these two streams.
            let mallory = try await endpoint.reminders(of: "mallory")
            let trudy = try await endpoint.reminders(of: "trudy")
            try await journey.advance(to: last, -1800)
            _ = try await ada.nextReminder()
            try await journey.wait(until: "(SELECT count(*) FROM reminders.reminder) = \(2 * count + 1)")
            // The streams are cut off; what they had not taken is kept.
            _ = try await MetricsReading.wait(at: endpoint) { $0[#"letsswitch_connections{kind="stream"}"#] == 1 }
            #expect(try await journey.count("reminders.reminder WHERE state = 'pending'") > 0)
            var received: Set<UUID> = []
            var comebacks = 0
            while received.count < count, comebacks < 5 {
                comebacks += 1
                let again = try await endpoint.reminders(of: "mallory")
                do {
                    while received.count < count { received.insert(try await again.nextReminder().id) }
                } catch ClientFailure.ended {
                    // On a busy machine the reading client may be too slow as well. Then nothing is lost either.
                }
            }
            #expect(received.count == count)
            try await journey.wait(
                until: """
                    (SELECT bool_and(state = 'delivered') FROM reminders.reminder
                    JOIN schedule.task ON task.id = task_id WHERE device_id <> 'trudy')
                    """)
            try await journey.advance(to: last, 5)
            try await journey.wait(until: "(SELECT bool_and(state <> 'pending') FROM reminders.reminder)")
            #expect(try await journey.count("reminders.reminder WHERE state = 'missed'") > 0)
            for stream in [mallory, trudy] { await stream.close() }
        }
    }

    private func register(
        _ count: Int, of device: String, from start: Instant, lead: Double, in journey: Journey
    ) async throws {
        let store = ScheduleStore(
            database: journey.client, settings: ScheduleSettings(reminderLead: lead, maxTasksPerDevice: count))
        let title = String(repeating: "\u{1F37A}", count: 200)
        for number in 0..<count {
            let slot = Instant(seconds: start.seconds + number)
            _ = try await store.register(try ScheduleDatabase.request(device, "\(slot)", title, zone: "UTC"))
        }
    }
}
