import Foundation
import Glibc
import JourneyTestSupport
import TestSupport
import Testing

/// The daemon's process is killed and started again on the same database.
@Suite struct RestartTests {
    private func kill(_ daemon: DaemonProcess) async throws {
        await daemon.signal(SIGKILL)
        #expect(try await daemon.waitForExit() == .signalled(SIGKILL))
    }

    @Test(
        "A restart loses no reminder and no open room"
    )
    func between() async throws {
        try await Journey.run { journey in
            var (daemon, endpoint) = try await journey.process()
            let start = try await journey.instant(in: 3600)
            let room = try await endpoint.pair("ada", "bob", start)
            try await kill(daemon)

            (daemon, endpoint) = try await journey.process()
            let ada = try await endpoint.reminders(of: "ada")
            try await journey.advance(to: start, -60)
            let reminder = try await ada.nextReminder()
            #expect(reminder.roomId == room)
            // The kernel accepted Ada's reminder. Bob has no stream yet.
            try await journey.wait(
                until: """
                    (SELECT string_agg(device_id || state, ' ' ORDER BY device_id)
                    FROM reminders.reminder JOIN schedule.task ON task.id = task_id)
                    = 'adadelivered bobpending'
                    """)
            try await kill(daemon)

            (daemon, endpoint) = try await journey.process()
            _ = try await MetricsReading.wait(at: endpoint) { $0["letsswitch_rooms_open"] == 1 }
            let peer = try await endpoint.enter(room)
            #expect(try await endpoint.reminders(of: "bob").nextReminder().roomId == room)
            // A repeated reminder has the same id, so a client can recognize it.
            #expect(try await endpoint.reminders(of: "ada").nextReminder() == reminder)
            try await journey.wait(until: "(SELECT bool_and(state = 'delivered') FROM reminders.reminder)")
            try await journey.advance(to: start, 3600)
            try await peer.expectClose(1000)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test("After downtime across the lead, a reminder is sent late")
    func acrossTheMinute() async throws {
        try await Journey.run { journey in
            let first = try await journey.process()
            let start = try await journey.instant(in: 3600)
            let room = try await first.endpoint.pair("ada", "bob", start)
            try await kill(first.daemon)
            try await journey.advance(to: start, -30)

            let (daemon, endpoint) = try await journey.process()
            #expect(try await endpoint.reminders(of: "ada").nextReminder().roomId == room)
            let line = try await daemon.waitForLog("reminder")
            #expect(try #require(line["late_ms"].int) >= 30_000)
            #expect(try await endpoint.status(of: room) == 101)
        }
    }

    @Test("After downtime across the start, a reminder is marked as missed")
    func acrossTheStart() async throws {
        try await Journey.run { journey in
            let first = try await journey.process()
            let start = try await journey.instant(in: 3600)
            let room = try await first.endpoint.pair("ada", "bob", start)
            try await kill(first.daemon)
            try await journey.advance(to: start, 5)

            let (daemon, endpoint) = try await journey.process()
            try await daemon.waitForLog("reminder missed")
            try await journey.wait(
                until: "(SELECT count(*) FROM reminders.reminder WHERE state = 'missed') = 2")
            #expect(try await endpoint.status(of: room) == 101)
            let stream = try await endpoint.reminders(of: "ada")
            let next = try await journey.instant(in: 3600)
            try await endpoint.register("ada", next, "Next")
            try await journey.advance(to: next, -60)
            #expect(try await stream.nextReminder().title == "Next")
        }
    }
}
