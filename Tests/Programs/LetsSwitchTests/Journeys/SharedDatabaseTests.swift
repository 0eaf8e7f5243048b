import Domain
import Foundation
import JourneyTestSupport
import Schedule
import Settings
import TestSupport
import Testing

/// Two daemons on one database.
@Suite struct SharedDatabaseTests {
    @Test("Every reminder arrives once at each stream on both daemons")
    func both() async throws {
        try await Journey.run { journey in
            let daemons = [try await journey.daemon(), try await journey.daemon()]
            let start = try await journey.instant(in: 3600)
            var rooms: [UUID] = []
            // The partners of a match register with different daemons.
            for number in 0..<10 {
                let one = try await daemons[0].register("a\(number)", start, "A")
                let other = try await daemons[1].register("b\(number)", start, "B")
                try #require(other.isPaired && other.socketId == one.socketId)
                rooms.append(one.socketId)
            }
            let devices = (0..<10).flatMap { ["a\($0)", "b\($0)"] }
            var streams: [(device: String, stream: EventStreamTestClient)] = []
            for daemon in daemons {
                for device in devices { streams.append((device, try await daemon.reminders(of: device))) }
            }
            try await journey.advance(to: start, -60)
            var received: [String: Set<UUID>] = [:]
            for (device, stream) in streams { received[device, default: []].insert(try await stream.nextReminder().id) }
            #expect(received.values.allSatisfy { $0.count == 1 })
            #expect(Set(received.values.joined()).count == 20)
            // Each daemon opens a room before it sends its reminders, so the test needn't wait.
            for daemon in daemons {
                for room in rooms { #expect(try await daemon.status(of: room) == 101) }
            }
            try await journey.wait(
                until: "(SELECT count(*) FROM reminders.reminder WHERE state = 'delivered') = 20")
            let metrics = [try await MetricsReading(daemons[0]), try await MetricsReading(daemons[1])]
            let fired = metrics.map { $0[#"letsswitch_reminders_total{outcome="fired"}"#] }
            #expect(fired.reduce(0, +) == 20)
            #expect(metrics.map { $0["letsswitch_rooms_open"] } == [10, 10])

            // No reminder arrives twice: the next reminder of each stream is about the next slot.
            let next = Instant(seconds: start.seconds + 600)
            for device in devices { try await daemons[1].register(device, next, "Next") }
            try await journey.advance(to: next, -60)
            for (_, stream) in streams { #expect(try await stream.nextReminder().title == "Next") }

            let peers = try await daemons.asyncMap { try await $0.enter(rooms[0]) }
            try await journey.advance(to: start, 3600)
            for peer in peers { try await peer.expectClose(1000) }
            for daemon in daemons { #expect(try await daemon.status(of: rooms[0]) == 410) }
        }
    }

    @Test("A change of a slot is sent to the streams of both daemons")
    func changes() async throws {
        try await Journey.run { journey in
            let (one, other) = (try await journey.daemon(), try await journey.daemon())
            let streams = [try await one.reminders(of: "ada"), try await other.reminders(of: "ada")]
            let start = try await journey.instant(in: 3600)
            func expectChange(of slot: Instant) async throws {
                for stream in streams { #expect(try await stream.nextChange() == "\(slot)") }
            }
            try await one.register("ada", start)
            try await expectChange(of: start)
            try await other.register("bob", start)
            try await expectChange(of: start)
            let lone = Instant(seconds: start.seconds + 60)
            try await one.register("bob", lone)
            try await expectChange(of: lone)
            let cancelled = try await other.post("/task/delete", ClientEndpoint.task("bob", lone, ""))
            #expect(cancelled.status == 200)
            try await expectChange(of: lone)
        }
    }

    @Test("A stream that connects later gets the reminders after its last one")
    func backlog() async throws {
        try await Journey.run { journey in
            let (one, other) = (
                try await journey.daemon { $0.schedule.reminderLead = .seconds(1800) },
                try await journey.daemon { $0.schedule.reminderLead = .seconds(1800) }
            )
            let first = try await journey.instant(in: 7200)
            let starts = (0..<3).map { Instant(seconds: first.seconds + 300 * $0) }
            for (number, start) in starts.enumerated() { try await one.register("ada", start, "T\(number)") }
            let live = try await one.reminders(of: "ada")
            try await journey.advance(to: starts[2], -1800)
            let all = try await starts.asyncMap { _ in try await live.nextReminder() }
            #expect(all.map(\.title) == ["T0", "T1", "T2"])
            let again = try await other.reminders(of: "ada")
            #expect(try await starts.asyncMap { _ in try await again.nextReminder() } == all)
            let resumed = try await other.reminders(of: "ada", after: all[1].id)
            #expect(try await resumed.nextReminder() == all[2])
            let unknown = try await one.reminders(of: "ada", after: UUID())
            #expect(try await starts.asyncMap { _ in try await unknown.nextReminder() } == all)
            // The first task has started, so its reminder is no longer sent.
            try await journey.advance(to: starts[0], 1)
            let later = try await one.reminders(of: "ada")
            #expect(try await later.nextReminder() == all[1])
            // No stream received a surplus reminder: the next one of each is the new one.
            let last = Instant(seconds: first.seconds + 3600)
            try await one.register("ada", last, "T3")
            try await journey.advance(to: last, -1800)
            for stream in [live, again, resumed, unknown] { #expect(try await stream.nextReminder().title == "T3") }
        }
    }
}
