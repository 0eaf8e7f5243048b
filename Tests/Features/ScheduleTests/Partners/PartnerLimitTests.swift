import Basics
import Domain
import FoundationEssentials
import Postgres
import Reminders
import Rooms
import ScheduleTestSupport
import Testing

@testable import Matches
@testable import Schedule

/// Absent partners, late users and moves at the limits of times and numbers.
@Suite struct PartnerLimitTests {
    private static let before = "2026-11-22 08:00Z"
    private static let nine = "2026-11-22T09:00:00Z"
    private static let ten = "2026-11-22T10:00:00Z"

    private static func move(
        _ task: TaskResponse, to startsAt: String, _ database: ScheduleDatabase, _ settings: ScheduleSettings
    ) async throws -> PartingOutcome {
        let slot = try ScheduleDatabase.request(task.device.text, startsAt, "", zone: "UTC").slot
        return try await PartnerStore(database: database.client, settings: settings).move(
            MoveRequest(task: OwnTask(id: task.id, device: slot.device), slot: slot.slot))
    }

    @Test("A user whose partner left between lead and claim can be joined")
    func beforeTheClaim() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.run(
                "INSERT INTO core.provider (name, seen_at) VALUES ('webhook', core.clock())")
            let first = try #require(try await database.register("a", Self.nine).task)
            _ = try await database.register("b", Self.nine)
            try await database.setClock("2026-11-22 08:59:10Z")
            _ = try await database.leave("a", first.id)
            let late = try #require(try await database.register("c", Self.nine).task)
            #expect(late.isPaired)
            #expect(try await database.reminders.claimDue(limit: 10)?.reminders.count == 2)
            #expect(try await database.reminders.openRooms().map(\.id) == [late.socketId])
            #expect(try await database.count("core.event WHERE type = 'room.opened'") == 1)
            try await database.checkPairs()
        }
    }

    @Test(
        "Only a late user may ask again after the start",
        arguments: ["2026-11-22 08:59:30Z", "2026-11-22 09:02Z"])
    func lateRepeat(_ moment: String) async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let first = try #require(try await database.register("a", Self.nine).task)
            for device in ["b", "d", "e"] { _ = try await database.register(device, Self.nine) }
            try await database.setClock("2026-11-22 08:59:10Z")
            _ = try await database.reminders.claimDue(limit: 10)
            _ = try await database.leave("a", first.id)
            try await database.setClock(moment)
            let late = try #require(try await database.register("c", Self.nine, "Art").task)
            #expect(try await database.register("c", Self.nine, "Art") == .repeated(late))
            _ = try await database.reminders.claimDue(limit: 10)
            try await database.setClock("2026-11-22 09:02Z")
            #expect(try await database.register("c", Self.nine, "Art") == .repeated(late))
            #expect(try await database.register("c", Self.nine, "Maths").refusal?.code == "registration_closed")
            #expect(try await database.register("b", Self.nine).task?.partnerTitle == "Art")
            #expect(try await database.register("e", Self.nine).refusal?.code == "registration_closed")
            try await database.setClock("2026-11-22 09:05Z")
            for (device, title) in [("b", "History"), ("c", "Art")] {
                let refusal = try await database.register(device, Self.nine, title).refusal
                #expect(refusal?.code == "registration_closed")
            }
        }
    }

    @Test("A late user's partner has a minute to come before counting as absent")
    func lateMinute() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let (first, _) = try await database.remindedPair("a", "b")
            _ = try await database.leave("a", first.id)
            try await database.setClock("2026-11-22 09:02Z")
            let late = try #require(try await database.register("c", Self.nine, "Art").task)
            _ = try await database.reminders.claimDue(limit: 10)
            try await RoomReports(database).come(late.socketId, late.id)
            try await database.setClock("2026-11-22 09:02:59Z")
            #expect(try await database.rematches.slots().isEmpty)
            try await database.setClock("2026-11-22 09:03Z")
            #expect(try await database.rematches.slots().map(\.description) == [Self.nine])
        }
    }

    @Test("A user in a room that ends early moves to the room to wait in")
    func attendance() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let (first, second) = try await database.remindedPair("a", "b")
            let (store, writer) = (AttendanceStore(database: database.client), UUID())
            func report(_ kind: PresenceEvent.Kind, _ room: UUID, _ number: Int) async throws {
                let event = PresenceEvent(kind, room: room, claimedIdentity: second.id, peers: 1, at: .now())
                try await store.report([event], by: writer, number: number, at: .now())
            }
            func present(_ room: UUID) async throws -> [Int] {
                try await database.run(
                    "SELECT present FROM core.attendance WHERE room_id = '\(room)' AND task_id = '\(second.id)'"
                ).map { try $0.integer("present") }
            }
            try await report(.joined, first.socketId, 1)
            _ = try await database.leave("a", first.id)
            let fresh = try #require(try await database.own("b", Self.nine)).socketId
            try await report(.left, first.socketId, 2)
            #expect(try await present(first.socketId) == [0])
            try await report(.joined, fresh, 3)
            #expect(try await present(fresh) == [1])
            #expect(try await database.count("core.presence") == 1)
            #expect(try await database.count("core.attendance WHERE task_id IS NULL") == 0)
        }
    }

    @Test("A moved task that had started counts as one more open task")
    func quota() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            var settings = ScheduleSettings()
            settings.maxTasksPerDevice = 1
            let first = try #require(try await database.register("a", Self.nine).task)
            let other = try #require(try await database.register("a", Self.ten).task)
            try await database.setClock("2026-11-22 09:01Z")
            let refused = try await Self.move(first, to: "2026-11-22T12:00:00Z", database, settings)
            #expect(refused == .refused(.tooManyTasks(1)))
            #expect(try await Self.move(other, to: "2026-11-22T12:00:00Z", database, settings).code == "done")
            _ = try await database.cancel("a", "2026-11-22T12:00:00Z")
            #expect(try await Self.move(first, to: Self.ten, database, settings).code == "done")
        }
    }

    @Test("The remains of an erased task don't block a slot")
    func movedTo() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            _ = try await database.register("a", Self.ten)
            try await database.run(
                """
                INSERT INTO core.erasure (device_id, up_to, events_up_to, next_try_at)
                SELECT 'a', max(registered), 0, 'infinity' FROM schedule.task
                """)
            let task = try #require(try await database.register("a", Self.nine).task)
            #expect(try await database.move("a", task.id, to: Self.ten).code == "done")
            guard case .refused(let error) = try await database.move("a", task.id, to: "2026-11-22T08:00:30Z") else {
                Issue.record("it was moved")
                return
            }
            #expect(error.code == "registration_closed" && error.reason.contains("08:00"))
            #expect(try await database.count("schedule.task") == 1)
        }
    }

    @Test("No user waits longer than the room is open")
    func shortRoom() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            var settings = ScheduleSettings()
            settings.roomDuration = .seconds(30)
            let task = try #require(try await database.register("a", Self.nine).task)
            try await database.setClock("2026-11-22 09:00:30Z")
            #expect(try await Self.move(task, to: Self.ten, database, settings).code == "registration_closed")
            settings.roomDuration = .seconds(31)
            #expect(try await Self.move(task, to: Self.ten, database, settings).code == "done")
        }
    }
}
