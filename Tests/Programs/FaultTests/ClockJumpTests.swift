import Domain
import Foundation
import JourneyTestSupport
import Postgres
import TestSupport
import Testing

@testable import LetsSwitch
@testable import Reminders
@testable import Schedule

/// The database's clock and the system's clock jump.
@Suite struct ClockJumpTests {
    /// The number of statements that the daemon's scheduler has sent.
    private static func statements(_ endpoint: ClientEndpoint) async throws -> Double {
        statements(in: try await MetricsReading(endpoint))
    }

    private static func statements(in reading: MetricsReading) -> Double {
        ["claim_due", "next_due", "expire_reminders", "open_rooms"].reduce(0) { $0 + count($1, in: reading) }
    }

    private static func count(_ statement: String, in reading: MetricsReading) -> Double {
        reading[#"letsswitch_db_query_seconds_count{name="\#(statement)"}"#]
    }

    @Test(
        "A clock jump of an hour causes no early and no repeated reminder"
    )
    func hour() async throws {
        try await Journey.run(clock: .running) { journey in
            let (daemon, endpoint) = try await journey.daemonAndEndpoint()
            let stream = try await endpoint.reminders(of: "ada")
            let base = try await journey.instant(in: 0)
            func at(_ minutes: Double) -> Instant { Instant(seconds: base.seconds + Int(60 * minutes)) }
            func jump(_ seconds: Double) async throws {
                try await journey.move(by: seconds)
                await daemon.clockWasSet()
            }
            // The tasks: over before the jump ends, reminded late, due soon after the jump, and due much later.
            for (title, minutes) in [("Over", 30.0), ("Late", 60.5), ("Next", 61.1), ("Far", 130)] {
                try await endpoint.register("ada", at(minutes), title)
            }
            let before = try await Self.statements(endpoint)

            try await jump(3600)
            #expect(try await stream.nextReminder().title == "Late")
            #expect(try await stream.nextReminder().title == "Next")
            try await journey.wait(
                until: """
                    (SELECT string_agg(title || ' ' || state, ', ' ORDER BY task.starts_at)
                    FROM reminders.reminder JOIN schedule.task ON task.id = task_id)
                    = 'Over missed, Late delivered, Next delivered'
                    """)
            // A stream that connects now doesn't get the missed reminder either.
            #expect(try await endpoint.reminders(of: "ada").nextReminder().title == "Late")

            // The clock jumps back. Reminders that have fired aren't repeated, and the next one comes at its time.
            try await jump(-3600)
            let lead = try await journey.instant(in: 62)
            try await endpoint.register("ada", lead, "Back")
            let due = Double(lead.seconds - 60) - (try await journey.shift())
            #expect(try await stream.nextReminder().title == "Back")
            #expect(Date().timeIntervalSince1970 >= due)
            let rows = try await journey.sql(
                "SELECT count(*) AS n, count(DISTINCT task_id) AS tasks FROM reminders.reminder")
            #expect(try rows[0].integer("n") == 4 && rows[0].integer("tasks") == 4)
            // Two jumps, four claims with their statements, and five registrations with their notifications.
            #expect(try await Self.statements(endpoint) - before < 80)
        }
    }

    @Test("After the clock went back unnoticed, no reminder is claimed early")
    func unnoticed() async throws {
        try await Journey.run(clock: .running) { journey in
            let endpoint = try await journey.daemon()
            // The daemon listens, so it receives every notification.
            let listening = try await journey.count(
                "pg_stat_activity WHERE datname = current_database() AND query ~ '^(LISTEN|SELECT 1$)'")
            #expect(listening > 0)
            func reading(_ condition: (MetricsReading) -> Bool) async throws -> MetricsReading {
                try await MetricsReading.wait(at: endpoint, until: condition)
            }
            /// Registers a task, and then sets the clock back before its reminder is due. The scheduler has read the
            /// clock before that.
            func promise(_ device: String, after seconds: Int) async throws -> Instant {
                let before = try await MetricsReading(endpoint)
                try await journey.sql("UPDATE letsswitch.test_clock SET shift = interval '0'")
                try await journey.sql("SELECT pg_notify('\(ReminderStore.dueChannel)', '0')")
                _ = try await reading { now in
                    ["claim_due", "next_due"].allSatisfy { Self.count($0, in: now) > Self.count($0, in: before) }
                }
                let start = try await journey.instant(in: 60 + seconds)
                try await endpoint.register(device, start)
                try await journey.sql("UPDATE letsswitch.test_clock SET shift = interval '-1 h'")
                return start
            }
            /// Whether the scheduler didn't notice that the clock was set back, and therefore claims too early. On a
            /// busy machine the task may already be due, and the scheduler may read the clock for another reason.
            func isUnnoticed(_ start: Instant, since known: MetricsReading) async throws -> Bool {
                guard Date().timeIntervalSince1970 < Double(start.seconds - 60) - 0.5 else { return false }
                let now = try await reading { now in
                    ["claim_due", "next_due"].contains { Self.count($0, in: now) > Self.count($0, in: known) }
                }
                return Self.count("claim_due", in: now) > Self.count("claim_due", in: known)
            }
            var (device, wait) = ("ada", 2)
            var (start, known) = (try await promise(device, after: wait), try await MetricsReading(endpoint))
            // If not, tries again with more time.
            while try await !isUnnoticed(start, since: known) {
                (device, wait) = ("\(device)+", 2 * wait)
                (start, known) = (try await promise(device, after: wait), try await MetricsReading(endpoint))
            }
            let stream = try await endpoint.reminders(of: device)
            // After the claim that found nothing, the scheduler reads the clock.
            _ = try await MetricsReading.wait(at: endpoint) {
                Self.count("next_due", in: $0) > Self.count("next_due", in: known)
            }
            // A daemon that queries in a loop would send at least this many statements.
            for _ in 0..<20 { _ = try await MetricsReading(endpoint) }
            let ofDevice = "reminders.reminder JOIN schedule.task ON task.id = task_id WHERE device_id = '\(device)'"
            #expect(try await journey.count(ofDevice) == 0)
            let statements = try await Self.statements(endpoint)
            #expect(statements - Self.statements(in: known) < 10)
            try await journey.advance(to: start, -60)
            #expect(try await stream.nextReminder().title == "History")
        }
    }
}
