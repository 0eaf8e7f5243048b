import Domain
import FoundationEssentials
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Reminders

/// Streams without sockets or a database.
@Suite struct EventStreamsTests {
    private static func now() -> Instant { Instant(seconds: Int(Date().timeIntervalSince1970)) }

    private func change(_ slots: Instant...) -> String {
        slots.map { "event: schedule\ndata: {\"startsAt\":\"\($0)\"}\n\n" }.joined()
    }

    private func event(_ reminder: Reminder) -> String {
        "id: \(reminder.id)\nevent: reminder\ndata: \(reminder.payload)\n\n"
    }

    @Test("A gathered change is sent once to the streams that show the slot")
    func windows() async throws {
        try await RecordedStreams.run { world in
            let midnight = Instant(seconds: Self.now().day * 86_400)
            func slot(_ days: Int, _ seconds: Int = 0) -> Instant {
                Instant(seconds: midnight.seconds + days * 86_400 + seconds)
            }
            let near = try await world.open("near")
            let far = try await world.open("far", .between(slot(9, 3600), slot(11, 3600)))
            let other = try await world.open("other", .between(slot(20), slot(21)))
            world.streams.slotsChanged([slot(1): [], slot(9): [], slot(9, 3600): [], slot(10): [], slot(11, 3600): []])
            let expected = [change(slot(1)), change(slot(9, 3600)), change(slot(10)), change(slot(20, 60))]
            try await near.next("what is near") { $0 == expected[0] }
            // The changes are sent in one message for each day.
            try await far.next("the far day") { $0 == expected[1] }
            try await far.next("the day after it") { $0 == expected[2] }
            world.streams.slotsChanged([slot(20, 60): []])
            try await other.next("the third's") { $0 == expected[3] }
            #expect([near, far, other].map { RecordedStreams.events($0).count } == [1, 2, 1])
        }
    }

    @Test("A change of a device's own task is sent to it at once")
    func own() async throws {
        try await RecordedStreams.run { world in
            let slot = Instant(seconds: Self.now().seconds + 60)
            let far = Instant(seconds: slot.seconds + 50 * 86_400)
            let (ada, bob) = (try await world.open("ada"), try await world.open("bob"))
            let device = DeviceID(stored: "ada")
            world.streams.dayChanged(of: device, at: slot)
            world.streams.dayChanged(of: device, at: far)
            world.streams.slotsChanged([slot: [device]])
            try await bob.next("the change") { [expected = change(slot)] in $0 == expected }
            await world.settle()
            #expect(RecordedStreams.events(ada) == [change(slot), change(far)])
            // Cleo changes the same slot before the round ends, so Ada's stream reports it too.
            world.streams.slotsChanged([slot: [device]])
            world.streams.slotsChanged([slot: [DeviceID(stored: "cleo")]])
            try await ada.next("the second change after it") { [expected = change(slot)] in $0 == expected }
            try await bob.next("the second change") { [expected = change(slot)] in $0 == expected }
        }
    }

    @Test("Each of a thousand reminders is sent once")
    func once() async throws {
        try await RecordedStreams.run { world in
            let all = (1...1000).map { Reminder.sample(batch: $0) }
            let ada = try await world.open(
                "ada", backlog: ReminderBacklog(unseen: Array(all[600..<800]), seen: Array(all[..<600])))
            world.streams.catchUp([DeviceID(stored: "ada")], with: Array(all[..<900]), newest: 900)
            for reminder in all { world.streams.deliver([reminder], settled: Reminder.batch(of: reminder.seq) - 1) }
            await world.settle()
            #expect(RecordedStreams.events(ada) == all[600...].map(event))
        }
    }

    @Test("An early reminder doesn't move the position")
    func early() async throws {
        try await RecordedStreams.run { world in
            let all = (1...4).map { Reminder.sample(batch: $0) }
            let ada = try await world.open("ada", backlog: ReminderBacklog(unseen: [all[0]], seen: []))
            world.streams.deliver([all[3]], settled: 1)
            world.streams.deliver([all[1]], settled: 1)
            world.streams.deliver([all[2]], settled: 2)
            world.streams.deliver([all[3]], settled: 3)
            await world.settle()
            #expect(
                RecordedStreams.events(ada) == [
                    event(all[0]), event(all[3]), "id: \(all[0].id)\n\n", event(all[1]), event(all[2]),
                ])
        }
    }

    @Test("A restart ends a stream and frees its place")
    func restart() async throws {
        try await RecordedStreams.run { world in
            let (ada, bob) = (try await world.open("ada"), try await world.open("bob"))
            world.streams.restart([DeviceID(stored: "ada")])
            try await ada.next("the end") { $0 == "the end" }
            #expect(await world.streams.devices() == [DeviceID(stored: "bob")])
            world.streams.restart()
            try await bob.next("the end") { $0 == "the end" }
            await world.settle()
            #expect(world.streams.isEmpty)
            let incomplete = try await world.open(
                "ada", backlog: ReminderBacklog(unseen: [.sample(batch: 1)], seen: [], isComplete: false))
            try await incomplete.next("the end") { $0 == "the end" }
        }
    }
}
