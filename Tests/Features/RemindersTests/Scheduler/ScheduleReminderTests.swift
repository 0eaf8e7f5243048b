import Domain
import FoundationEssentials
import Postgres
import Rooms
import Schedule
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Reminders

@Suite struct ScheduleReminderTests {
    private let nine = "2026-11-22T09:00:00Z"

    @Test("At the lead, both users are reminded and their room opens")
    func claim() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let store = database.reminders
            let first = try #require(try await database.register("a", nine, "Hi\"\n", zone: "Europe/London").task)
            _ = try await database.register("b", nine, "Maths")
            _ = try await database.register("c", "2026-11-22T08:30:00Z", "Early")
            let room = first.socketId
            #expect(try await store.nextDue().due == Double(1_795_338_000 - 1800 - 60))
            #expect(try await store.claimDue(limit: 10) == nil)
            #expect(try await store.findRoom(room) == .notOpen(opensAt: 1_795_337_940, now: 1_795_334_400))

            try await database.setClock("2026-11-22 08:59:00.25Z")
            let claim = try #require(try await store.claimDue(limit: 10))
            #expect(claim.reminders.map(\.device.text) == ["c", "a", "b"])
            #expect(claim.rooms == [OpenRoom(id: room, closesAt: 1_795_341_600)])
            #expect(claim.closedSlots.map(\.description) == ["2026-11-22T08:30:00Z"])
            // The first task has already started, so its reminder is too late.
            #expect(claim.reminders.map(\.state) == [.missed, .pending, .pending])
            let own = claim.reminders[1]
            #expect(own.lateness == 0.25 && own.roomId == room)
            #expect(
                own.payload
                    == #"{"type":"reminder","id":"\#(own.id)","taskId":"\#(first.id)","title":"Hi\"\n","#
                    + #""startsAt":"2026-11-22T09:00:00Z","startTime":"09:00","timeZone":"Europe/London","#
                    + #""roomId":"\#(room)","partnerTask":"Maths"}"#)
            #expect(!claim.reminders[0].payload.contains("roomId"))
            #expect(try await store.newestBatch() == claim.batch)
            #expect(try await store.claims(after: claim.batch - 1, upTo: claim.batch) == [claim])
            #expect(try await store.claims(after: claim.batch, upTo: claim.batch + 1).isEmpty)
            #expect(try await store.claimDue(limit: 10) == nil)
            #expect(try await store.openRooms() == claim.rooms)
            #expect(try await store.findRoom(room) == .open(closesAt: 1_795_341_600))
            try await database.setClock("2026-11-22 10:00Z")
            #expect(try await store.findRoom(room) == .closed)
            #expect(try await store.openRooms().isEmpty)
        }
    }

    @Test("Claims follow the due order, up to a limit each")
    func limit() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            for minute in ["30", "20", "40", "10"] {
                _ = try await database.register("a", "2026-11-22T09:\(minute):00Z")
            }
            try await database.setClock("2026-11-22 09:29Z")
            #expect(
                try await database.reminders.claimDue(limit: 2)?.reminders.map(\.startsAt.description)
                    == ["2026-11-22T09:10:00Z", "2026-11-22T09:20:00Z"])
            #expect(
                try await database.reminders.claimDue(limit: 2)?.reminders.map(\.startsAt.description)
                    == ["2026-11-22T09:30:00Z"])
        }
    }

    @Test("A room opens late, unless its time is over")
    func late() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let rooms = try await ["2026-11-22T08:30:00Z", nine].asyncMap { start in
                _ = try await database.register("a", start)
                return try #require(try await database.register("b", start).task).socketId
            }
            try await database.setClock("2026-11-22 09:45Z")
            let claim = try #require(try await database.reminders.claimDue(limit: 10))
            #expect(claim.rooms.map(\.id) == [rooms[1]])
            #expect(claim.reminders.allSatisfy { $0.state == .missed })
            #expect(try await database.reminders.findRoom(rooms[0]) == .closed)
            #expect(try await database.reminders.nextDue().due == nil)
        }
    }

    @Test("The room of an unmatched task never opens")
    func unpairedRoom() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let room = try #require(try await database.register("a", nine).task).socketId
            #expect(try await database.reminders.findRoom(room) == .notOpen(opensAt: 1_795_337_940, now: 1_795_334_400))
            #expect(try await database.reminders.findRoom(UUID()) == .unknown)
            try await database.setClock("2026-11-22 08:59Z")
            #expect(try await database.reminders.findRoom(room) == .unknown)
            _ = try await database.reminders.claimDue(limit: 1)
            #expect(try await database.reminders.findRoom(room) == .unknown)
        }
    }

    @Test("A reminder is missed if it isn't delivered within two seconds after the start")
    func outbox() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let store = database.reminders
            for device in ["a", "b", "c"] { _ = try await database.register(device, nine) }
            try await database.setClock("2026-11-22 08:59Z")
            let ids = try #require(try await store.claimDue(limit: 10)).reminders.map(\.id)
            #expect(Set(try await store.markDelivered([ids[1], ids[0], UUID()])) == Set(ids[0...1]))
            #expect(try await store.markDelivered([ids[0]]).isEmpty)
            #expect(try await store.nextDue().due == nil)
            #expect(try await store.nextDue().expiry == 1_795_338_002)
            try await database.setClock("2026-11-22 09:00:01.9Z")
            #expect(try await store.expire().isEmpty)
            try await database.setClock("2026-11-22 09:00:02Z")
            #expect(try await store.expire().map(\.id) == [ids[2]])
            #expect(try await store.markDelivered([ids[2]]).isEmpty)
            #expect(try await store.nextDue().expiry == nil)
        }
    }

    @Test("A stream gets the later reminders whose tasks haven't started")
    func replay() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z", lead: 1800) { database in
            let store = database.reminders
            let device = DeviceID(stored: "a")
            for start in [nine, "2026-11-22T09:10:00Z", "2026-11-22T09:20:00Z"] {
                _ = try await database.register("a", start)
            }
            _ = try await database.register("b", nine)
            try await database.setClock("2026-11-22 08:55Z")
            _ = try await store.claimDue(limit: 10)
            let all = try await store.backlog(of: device, after: nil).unseen
            #expect(all.map(\.startsAt.description) == [nine, "2026-11-22T09:10:00Z", "2026-11-22T09:20:00Z"])
            let foreign = try await store.backlog(of: DeviceID(stored: "b"), after: nil).unseen
            #expect(
                try await store.backlog(of: device, after: foreign[0].id) == ReminderBacklog(unseen: all, seen: []))
            let backlog = try await store.backlog(of: device, after: all[0].id)
            #expect(backlog == ReminderBacklog(unseen: Array(all[1...]), seen: [all[0]]))
            #expect(try await store.backlog(of: device, after: UUID()) == ReminderBacklog(unseen: all, seen: []))
            // One call reads the reminders of many devices, for streams that may have missed some. Each device's are in
            // claim order.
            let many = try await store.reminders(of: [device, DeviceID(stored: "b"), DeviceID(stored: "nobody")])
            #expect(many.filter { $0.device == device } == all)
            #expect(many.filter { $0.device != device } == foreign)
            try await database.setClock("2026-11-22 09:05Z")
            #expect(try await store.backlog(of: device, after: nil).unseen == Array(all[1...]))
            // The last reminder that the stream has sent may belong to a task that has started.
            let started = try await store.backlog(of: device, after: all[0].id)
            #expect(started == ReminderBacklog(unseen: Array(all[1...]), seen: []))
        }
    }

    @Test("An earlier task or another daemon's claim wakes the scheduler")
    func notifications() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let events = AsyncStream.makeStream(of: PostgresListenerEvent.self)
            let listener = PostgresListener(
                configuration: database.configuration,
                channels: [ReminderStore.dueChannel, ReminderStore.claimsChannel]
            ) { events.continuation.yield($0) }
            await listener.start()
            var received = events.stream.makeAsyncIterator()
            guard case .listening = await received.next() else {
                Issue.record("not listening")
                return
            }
            _ = try await database.register("a", nine)
            // A later task: no scheduler needs to wake up.
            _ = try await database.register("a", "2026-11-22T10:00:00Z")
            _ = try await database.register("b", nine)
            _ = try await database.register("a", "2026-11-22T08:30:00Z")
            try await database.setClock("2026-11-22 08:59Z")
            let claim = try #require(try await database.reminders.claimDue(limit: 10))
            var notifications: [String] = []
            while notifications.count < 3, let event = await received.next() {
                if case .notification(let channel, let payload) = event {
                    notifications.append("\(channel) \(payload)")
                }
            }
            #expect(
                notifications.map { $0.split(separator: ".")[0] } == [
                    "letsswitch_due 1795337940", "letsswitch_due 1795336140", "letsswitch_claimed \(claim.batch)",
                ])
            await listener.stop()
        }
    }
}
