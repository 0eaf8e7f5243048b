import Domain
import Foundation
import JourneyTestSupport
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Notifications

/// Many reminders due at the same second, sent through nghttpx over HTTP/2 and TLS. `LETSSWITCH_PUSH_LOAD` sets their
/// number, and then the test prints its measurements.
@Suite struct APNsLoadTests {
    private static let asked = ProcessInfo.processInfo.environment["LETSSWITCH_PUSH_LOAD"].flatMap { Int($0) }

    @Test("Reminders that are due at once are sent at once")
    func remindersThatAreDueAtOnceLeaveAtOnce() async throws {
        let count = Self.asked ?? 1000
        try await PushRecorder.run { recorder in
            let authority = try await TestAuthority()
            let (settings, _) = try await APNsSettings.forTests(in: authority)
            let front = try await HTTP2Proxy.start(
                before: recorder.endpoint, identity: authority.issue(), HTTP2Proxy.accessLog)
            try await Journey.run { journey in
                let (daemon, _) = try await journey.process([
                    "--apns-key", settings.keyFile ?? "", "--apns-key-id", "ABC123DEFG", "--apns-team-id", "DEF123GHIJ",
                    "--apns-topic", "org.example.app", "--apns-url", front.url(), "--apns-ca", authority.file,
                ])
                let start = try await journey.instant(in: 7200)
                try await Self.register(count, at: start, in: journey)
                let before = Self.residentPeak(of: daemon)
                let begun = ContinuousClock.now
                try await journey.advance(to: start, -59)
                try await journey.wait(
                    until: "(SELECT count(*) FROM reminders.reminder WHERE state = 'delivered') = \(count)")
                let elapsed = ContinuousClock.now - begun
                let peak = Self.residentPeak(of: daemon)
                let received = recorder.received.all
                #expect(Set(received.map(\.target)).count == received.count)
                // The recorder drops the oldest of more than 10,000 requests.
                if count < 10_000 { #expect(received.count == count) }
                #expect(Set(front.requests.map(\.port)).count == 1)
                if Self.asked != nil {
                    print("push load: \(count) in \(elapsed), peak RSS \(before) -> \(peak) KB")
                }
                try await daemon.terminate()
            }
        }
    }

    /// Stores `count` devices, each with a token and a task.
    private static func register(_ count: Int, at start: Instant, in journey: Journey) async throws {
        try await journey.sql(
            """
            INSERT INTO core.address (device_id, channel, address, details, registered_at, used_at)
            SELECT 'd' || n, 'apns', lpad(to_hex(n), 64, '0'), '{"sandbox":false}', core.clock(), core.clock()
            FROM generate_series(1, \(count)) AS n
            """)
        try await journey.sql(
            """
            WITH added AS (
                INSERT INTO schedule.task
                    (id, device_id, title, starts_at, reminds_at, time_zone, start_time, room_id, closes_at)
                SELECT gen_random_uuid(), 'd' || n, 'History', at.start, at.start - interval '60 seconds', 'UTC', '09:00',
                    gen_random_uuid(), at.start + interval '1 hour'
                FROM generate_series(1, \(count)) AS n, (SELECT to_timestamp(\(start.seconds)) AS start) AS at
                RETURNING *
            )
            INSERT INTO schedule.due (reminds_at, registered, task_id, starts_at, closes_at)
            SELECT reminds_at, registered, id, starts_at, closes_at FROM added
            """)
        try await journey.sql("ANALYZE schedule.task, schedule.due, core.address")
    }

    /// Returns the peak resident memory in kilobytes.
    private static func residentPeak(of daemon: DaemonProcess) -> Int {
        let status = (try? String(contentsOfFile: "/proc/\(daemon.process.pid)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return line.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }
}
