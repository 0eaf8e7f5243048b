import Basics
import Domain
import Features
import FoundationEssentials
import Postgres
import Reminders
import Rooms
import ScheduleTestSupport
import Testing

@testable import Matches
@testable import Schedule

/// Cancelling and moving a matched task.
@Suite struct PartnerStoreTests {
    private static let before = "2026-11-22 08:00Z"
    private static let nine = "2026-11-22T09:00:00Z"
    private static let ten = "2026-11-22T10:00:00Z"

    private static func state(_ room: UUID, _ database: ScheduleDatabase) async throws -> String {
        switch try await database.reminders.findRoom(room) {
        case .open: "open"
        case .notOpen: "not open"
        case .closed: "closed"
        case .unknown: "unknown"
        }
    }

    @Test("A user whose partner left is notified and can be joined")
    func leave() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let first = try #require(try await database.register("a", Self.nine, "History").task)
            _ = try await database.register("b", Self.nine, "Maths")
            #expect(try await database.cancel("a", Self.nine).code == "has_partner")
            let outcome = try await database.leave("a", first.id)
            let left = try #require(outcome.task)
            #expect(left.isPaired && left.partnerTitle == "Maths" && left.socketId == first.socketId)
            #expect(outcome.changes.flatMap(\.devices).map(\.text) == ["a", "b", "b"])
            #expect(outcome.changes.map(\.slotOpened) == [nil, true])
            let stays = try #require(try await database.own("b", Self.nine))
            #expect(!stays.isPaired && stays.socketId != first.socketId)
            #expect(try await Self.state(first.socketId, database) == "unknown")
            #expect(try await Self.state(stays.socketId, database) == "not open")
            #expect(try await database.leave("a", first.id).code == "no_such_task")
            let third = try #require(try await database.register("c", Self.nine).task)
            #expect(third.isPaired && third.socketId == stays.socketId)
            try await database.checkPairs()
        }
    }

    @Test("A user whose partner left is matched with a waiting user")
    func pairedAnew() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let first = try #require(try await database.register("a", Self.nine).task)
            _ = try await database.register("b", Self.nine)
            let third = try #require(try await database.register("c", Self.nine, "Art").task)
            let outcome = try await database.leave("a", first.id)
            #expect(outcome.changes.flatMap(\.devices).map(\.text) == ["a", "b", "b", "c"])
            #expect(outcome.changes.last?.slotOpened == false)
            let stays = try #require(try await database.own("b", Self.nine))
            #expect(stays.isPaired && stays.partnerTitle == "Art" && stays.socketId == third.socketId)
            try await database.checkPairs()
        }
    }

    @Test("After the lead, a user without a partner waits in an open room")
    func afterTheLead() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let first = try #require(try await database.register("a", Self.nine).task)
            _ = try await database.register("b", Self.nine)
            try await database.setClock("2026-11-22 08:59:10Z")
            #expect(try await database.reminders.claimDue(limit: 10)?.rooms.map(\.id) == [first.socketId])
            #expect(try await database.register("c", Self.nine).refusal?.code == "registration_closed")
            _ = try await database.leave("a", first.id)
            let stays = try #require(try await database.own("b", Self.nine))
            #expect(!stays.isPaired && stays.socketId != first.socketId)
            #expect(try await Self.state(first.socketId, database) == "unknown")
            #expect(try await Self.state(stays.socketId, database) == "open")
            #expect(try await database.reminders.openRooms().map(\.id) == [stays.socketId])

            try await database.setClock("2026-11-22 09:04:59Z")
            let late = try #require(try await database.register("c", Self.nine, "Art").task)
            #expect(late.isPaired && late.socketId == stays.socketId)
            #expect(try await database.register("d", Self.nine).refusal?.code == "registration_closed")
            #expect(try await database.reminders.claimDue(limit: 10)?.reminders.map(\.state) == [.missed])
            try await database.checkPairs()

            _ = try await database.leave("c", late.id)
            try await database.setClock("2026-11-22 09:05Z")
            #expect(try await database.register("d", Self.nine).refusal?.code == "registration_closed")
            #expect(try await database.leave("b", stays.id).code == "registration_closed")
        }
    }

    @Test("No user is matched into a closed room, although another waits there")
    func closedRoom() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let (first, _) = try await database.remindedPair("a", "b")
            _ = try await database.leave("a", first.id)
            let stays = try #require(try await database.own("b", Self.nine))
            _ = try await database.reminders.closeRoom(stays.socketId)
            #expect(try await database.register("c", Self.nine).refusal?.code == "registration_closed")
            #expect(try await Self.state(stays.socketId, database) == "closed")
        }
    }

    @Test("Two users who are alone after the lead are matched")
    func aloneAfterTheLead() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let first = try #require(try await database.register("a", Self.nine).task)
            _ = try await database.register("b", Self.nine)
            let third = try #require(try await database.register("c", Self.nine).task)
            try await database.setClock("2026-11-22 08:59:10Z")
            _ = try await database.reminders.claimDue(limit: 10)
            #expect(try await Self.state(third.socketId, database) == "unknown")
            _ = try await database.leave("a", first.id)
            #expect(try await database.own("b", Self.nine)?.socketId == third.socketId)
            #expect(try await Self.state(third.socketId, database) == "open")
            // The third user had no partner at the reminder, so it named no room.
            let rematches = try await database.rematches.recent(within: .seconds(60))
            #expect(rematches.map(\.taskId) == [third.id] && rematches.map(\.roomId) == [third.socketId])
            #expect(rematches.map(\.from) == [nil] && rematches.map(\.partnerTask) == ["History"])
            try await database.checkPairs()
        }
    }

    @Test("An unnamed member of a room keeps it")
    func unnamedPeers() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let (first, _) = try await database.remindedPair("a", "b")
            try await AttendanceStore(database: database.client).report(
                [PresenceEvent(.joined, room: first.socketId, claimedIdentity: nil, peers: 1, at: .now())],
                by: UUID(), number: 1, at: .now())
            _ = try await database.leave("a", first.id)
            #expect(try await database.own("b", Self.nine)?.socketId == first.socketId)
            #expect(try await Self.state(first.socketId, database) == "open")
        }
    }

    @Test("No data of an erased partner's task remains when the other leaves")
    func leaveTheErased() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let first = try #require(try await database.register("a", Self.nine).task)
            _ = try await database.register("b", Self.nine)
            _ = try await database.erasures.erase(DeviceID(stored: "b"))
            #expect(try await database.leave("a", first.id).changes.count == 1)
            for table in ["schedule.task", "schedule.due", "reminders.reminder"] {
                #expect(try await database.count(table) == 0, "\(table)")
            }
        }
    }

    @Test("A moved task keeps its id and is matched in its new slot")
    func move() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let first = try #require(try await database.register("a", Self.nine, "History", zone: "Europe/Rome").task)
            _ = try await database.register("b", Self.nine)
            _ = try await database.register("c", Self.nine)
            let waiting = try #require(try await database.register("d", Self.ten, "Art").task)
            let outcome = try await database.move("a", first.id, to: Self.ten)
            let moved = try #require(outcome.task)
            #expect(moved.id == first.id && moved.startsAt.description == Self.ten && moved.startTime == "11:00")
            #expect(moved.isPaired && moved.partnerTitle == "Art" && moved.socketId == waiting.socketId)
            #expect(outcome.changes.map { $0.devices.map(\.text) } == [["a", "d"], ["a", "b"], ["b", "c"]])
            #expect(try await database.own("b", Self.nine)?.isPaired == true)
            #expect(try await database.move("a", first.id, to: Self.ten).code == "unchanged")
            try await database.checkPairs()
        }
    }

    @Test("A task that can't be moved is unchanged")
    func moveRefused() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let first = try #require(try await database.register("a", Self.nine).task)
            _ = try await database.register("b", Self.nine)
            _ = try await database.register("a", Self.ten)
            for (start, code) in [
                (Self.ten, "slot_taken"), ("2026-11-22T08:00:30Z", "registration_closed"),
                ("2027-11-22T09:00:00Z", "too_far_ahead"),
            ] {
                #expect(try await database.move("a", first.id, to: start).code == code)
            }
            #expect(try await database.move("b", first.id, to: Self.ten).code == "no_such_task")
            #expect(try await database.own("a", Self.nine)?.isPaired == true)
            try await database.checkPairs()
        }
    }

    @Test("A task moved after its reminder is reminded again at the new time")
    func movedAfterTheLead() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let (first, _) = try await database.remindedPair("a", "b")
            _ = try await database.move("a", first.id, to: Self.ten)
            #expect(try await database.reminders.claimDue(limit: 10) == nil)
            #expect(try await database.own("b", Self.nine)?.isPaired == false)
            try await database.setClock("2026-11-22 09:59:10Z")
            #expect(try await database.reminders.claimDue(limit: 10)?.reminders.map(\.taskId) == [first.id])
            try await database.checkPairs()
        }
    }
}
