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

/// Users who wait in their rooms for an absent partner.
@Suite struct RematchTests {
    private static let nine = "2026-11-22T09:00:00Z"

    /// Two claimed matches at nine: Ada with Bob, and Cem with Dan.
    private static func twoMatches(_ database: ScheduleDatabase) async throws -> [String: TaskResponse] {
        var tasks: [String: TaskResponse] = [:]
        for device in ["ada", "bob", "cem", "dan"] {
            tasks[device] = try await database.register(device, nine, device).task
        }
        try await database.setClock("2026-11-22 08:59:10Z")
        _ = try await database.reminders.claimDue(limit: 10)
        return tasks
    }

    private static func own(_ device: String, _ database: ScheduleDatabase) async throws -> TaskState {
        let row = try await database.run(
            """
            SELECT task.id, task.room_id, partner.device_id AS partner, task.is_absent, task.was_dissolved,
                task.waits_until IS NOT NULL AS waits
            FROM schedule.task LEFT JOIN schedule.task AS partner ON partner.id = task.partner_id
            WHERE task.device_id = '\(device)'
            """)[0]
        return TaskState(
            id: try row.uuid("id"), room: try row.uuid("room_id"), partner: try row.optionalString("partner"),
            isAbsent: try row.boolean("is_absent"), wasDissolved: try row.boolean("was_dissolved"),
            waits: try row.boolean("waits"))
    }

    private struct TaskState {
        let id: UUID
        let room: UUID
        let partner: String?
        let isAbsent: Bool
        let wasDissolved: Bool
        let waits: Bool
    }

    @Test("Nothing is searched before a partner or guest can be late")
    func next() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            #expect(try await database.rematches.next() == nil)
            _ = try await Self.twoMatches(database)
            #expect(try await database.rematches.next() == .seconds(110))
            try await database.setClock("2026-11-22 09:00:59.5Z")
            #expect(try await database.rematches.next() == .milliseconds(500))
            for moment in ["09:01:00", "09:04:59"] {
                try await database.setClock("2026-11-22 \(moment)Z")
                #expect(try await database.rematches.next() == .zero)
            }
            try await database.setClock("2026-11-22 12:00:00Z")
            #expect(try await database.rematches.next() == nil)
            _ = try await database.invite("ada", "2026-11-22T15:00:00Z")
            let lapse = try await database.run(
                "SELECT extract(epoch FROM invites_until)::bigint AS at FROM schedule.task")
            let noon = try #require(Instant(checked: 1_795_348_800))
            #expect(
                try await database.rematches.next()
                    == .seconds(try lapse.compactMap { try $0.optionalInteger("at") }[0] - noon.seconds))
        }
    }

    @Test("Only the next of many reminders and guests are read")
    func nextPlan() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            for table in ["schedule.task", "reminders.reminder"] {
                try await database.run("ALTER TABLE \(table) SET (autovacuum_enabled = off)")
            }
            try await database.crowd(of: "big", count: 20_000, after: "2026-11-22 09:00:00Z")
            try await database.run("UPDATE schedule.task SET invites_until = '2026-11-22 10:00Z'")
            try await database.run(
                """
                INSERT INTO reminders.reminder (id, seq, task_id, starts_at, claimed_at, state)
                SELECT gen_random_uuid(), 1, task.id, task.starts_at, task.reminds_at, 'pending' FROM schedule.task
                """)
            for statistics in ["none", "new"] {
                if statistics == "new" { try await database.run("ANALYZE schedule.task, reminders.reminder") }
                let visits = try await database.visits("schedule.next_rematch(60, 600)")
                #expect(visits.allSatisfy { $0 < 50 }, "statistics: \(statistics), \(visits)")
            }
        }
    }

    @Test(
        "Two users who are alone a minute after the start are matched in a new room"
    )
    func pairs() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let tasks = try await Self.twoMatches(database)
            let peers = RoomReports(database)
            for device in ["ada", "cem"] {
                try await peers.come(try await Self.own(device, database).room, tasks[device]?.id)
            }
            try await database.setClock("2026-11-22 09:00:59Z")
            #expect(try await database.rematches.slots().isEmpty)
            try await database.setClock("2026-11-22 09:01:00Z")
            let slots = try await database.rematches.slots()
            #expect(slots.map(\.description) == [Self.nine])
            #expect(try await database.rematch() == 1)
            #expect(try await database.rematch() == 0)
            let (ada, bob, cem) = (
                try await Self.own("ada", database), try await Self.own("bob", database),
                try await Self.own("cem", database)
            )
            #expect(ada.partner == "cem" && cem.partner == "ada" && ada.room == cem.room)
            #expect(ada.wasDissolved && cem.wasDissolved && !ada.waits && !ada.isAbsent)
            #expect(bob.partner == nil && bob.isAbsent && !bob.wasDissolved)
            let before = try #require(tasks["ada"]).socketId
            #expect(ada.room != before && ada.room != tasks["cem"]?.socketId)
            #expect(try await database.reminders.findRoom(before) == .unknown)
            for room in [ada.room, bob.room] {
                guard case .open = try await database.reminders.findRoom(room) else {
                    Issue.record("it isn't open")
                    continue
                }
            }
            try await database.checkMatches()
            // A user who isn't in a room can't be matched.
            #expect(try await database.register("eva", Self.nine).refusal?.code == "registration_closed")

            // Bob comes late, and so does dan.
            try await peers.come(bob.room, bob.id)
            #expect(try await database.rematch() == 0)
            #expect(try await !Self.own("bob", database).isAbsent)
            let dan = try await Self.own("dan", database)
            try await peers.come(dan.room, dan.id)
            #expect(try await database.rematch() == 1)
            #expect(try await Self.own("bob", database).partner == "dan")
            try await database.checkMatches()

            try await database.setClock("2026-11-22 10:00:01Z")
            let store = HistoryStore(database: database.client)
            let expected: [(String, History.Attendance, History.Outcome, Bool)] = [
                ("ada", .came, .kept, true), ("bob", .late, .kept, false), ("dan", .late, .kept, false),
            ]
            for (device, attendance, outcome, wasDissolved) in expected {
                let entry = try #require(try await store.history(of: DeviceID(stored: device)).entries.first)
                #expect(entry.attendance == attendance && entry.outcome == outcome, "\(device)")
                #expect(entry.wasDissolved == wasDissolved, "\(device)")
            }
        }
    }

    @Test("A single user stays, and can be joined")
    func odd() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let tasks = try await Self.twoMatches(database)
            let peers = RoomReports(database)
            let room = try #require(tasks["ada"]).socketId
            try await peers.come(room, tasks["ada"]?.id)
            try await database.setClock("2026-11-22 09:00:30Z")
            #expect(try await database.register("eva", Self.nine).refusal?.code == "registration_closed")
            try await database.setClock("2026-11-22 09:01:00Z")
            #expect(try await database.rematch() == 0)
            #expect(try await database.rematches.slots().isEmpty)
            let odd = try await Self.own("ada", database)
            #expect(odd.partner == "bob" && odd.room == room && odd.waits)
            try await database.setClock("2026-11-22 09:02:00Z")
            let late = try #require(try await database.register("eva", Self.nine, "Art").task)
            let ada = try await Self.own("ada", database)
            #expect(
                late.isPaired && ada.partner == "eva" && ada.room == late.socketId && ada.room != room && !ada.waits)
            #expect(try await Self.own("bob", database).isAbsent)
            #expect(try await database.reminders.findRoom(room) == .unknown)
            #expect(try await database.register("eva", Self.nine, "Art") == .repeated(late))
            #expect(try await database.register("fay", Self.nine).refusal?.code == "registration_closed")
            _ = try await database.reminders.claimDue(limit: 10)
            try await database.checkMatches()
            // A user who has just registered gets the usual time to join.
            try await peers.come(ada.room, ada.id)
            try await database.setClock("2026-11-22 09:02:30Z")
            #expect(try await database.rematches.slots().isEmpty)

            // Cem is alone at first; then dan comes.
            let cem = try await Self.own("cem", database)
            try await peers.come(cem.room, cem.id)
            #expect(try await database.rematch() == 0)
            try await peers.come(cem.room, tasks["dan"]?.id)
            #expect(try await database.register("fay", Self.nine).refusal?.code == "registration_closed")
            #expect(try await Self.own("cem", database).partner == "dan")
        }
    }

    @Test("A user who is disconnected, unnamed or blocked isn't moved")
    func exceptions() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let tasks = try await Self.twoMatches(database)
            let peers = RoomReports(database)
            let (first, second) = (try #require(tasks["ada"]).socketId, try #require(tasks["cem"]).socketId)
            try await peers.come(first, tasks["ada"]?.id)
            try await peers.come(second, tasks["cem"]?.id)
            // The published app doesn't name a task.
            try await peers.come(second, nil)
            try await peers.come(first, tasks["bob"]?.id)
            try await database.setClock("2026-11-22 09:01:00Z")
            try await peers.go(first, tasks["bob"]?.id)
            #expect(try await database.rematches.slots().isEmpty)
            try await database.setClock("2026-11-22 09:01:20Z")
            #expect(try await database.rematch() == 0)
            #expect(try await Self.own("cem", database).partner == "dan")
            #expect(try await database.register("dan2", Self.nine).task?.isPaired == true)

            try await peers.go(second, nil)
            try await database.setClock("2026-11-22 09:02:20Z")
            let ada = try await Self.own("ada", database)
            try await peers.come(ada.room, ada.id)
            try await database.run(
                """
                INSERT INTO core.block (id, device_id, blocked_id, title, starts_at, blocked_at)
                VALUES (gen_random_uuid(), 'cem', 'ada', 'x', core.clock(), core.clock())
                """)
            #expect(try await database.rematch() == 0)
            #expect(try await Self.own("cem", database).partner == "dan")
            // Dan2 doesn't come either.
            #expect(try await Self.own("ada", database).waits)
            try await database.run("DELETE FROM core.block")
            #expect(try await database.rematch() == 1)
            #expect(try await Self.own("cem", database).partner == "ada")
            _ = try await database.reminders.claimDue(limit: 10)
            try await database.checkMatches()
        }
    }

    @Test("An erased partner leaves nothing behind when the user is matched again")
    func erased() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let tasks = try await Self.twoMatches(database)
            let peers = RoomReports(database)
            for device in ["ada", "cem"] {
                try await peers.come(try await Self.own(device, database).room, tasks[device]?.id)
            }
            _ = try await database.erasures.erase(DeviceID(stored: "bob"))
            try await database.setClock("2026-11-22 09:01:00Z")
            #expect(try await database.rematch() == 1)
            #expect(try await database.count("schedule.task") == 3)
            #expect(try await database.count("schedule.task WHERE device_id IS NULL") == 0)
            try await database.checkMatches()
        }
    }

    @Test("Concurrent entries, departures, moves and matches leave each user in one match or waiting")
    func atOnce() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z", connections: 16) { database in
            // The last user finds no partner in time.
            let people = (0..<25).map { "d\($0)" }
            for device in people { _ = try await database.register(device, Self.nine, device) }
            try await database.setClock("2026-11-22 08:59:10Z")
            _ = try await database.reminders.claimDue(limit: 100)
            for second in [0, 20, 40] {
                try await database.setClock("2026-11-22 09:0\(1 + second / 20):\(second == 0 ? "00" : "\(second)")Z")
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for worker in 0..<10 {
                        group.addTask {
                            let peers = RoomReports(database)
                            for step in 0..<30 {
                                let device = people[Int.random(in: 0..<people.count)]
                                let row = try await database.run(
                                    "SELECT id, room_id FROM schedule.task WHERE device_id = '\(device)'"
                                ).first
                                switch (Int.random(in: 0..<10), row) {
                                case (0..<5, let row?): try await peers.come(row.uuid("room_id"), row.uuid("id"))
                                case (5, let row?): try await peers.go(row.uuid("room_id"), row.uuid("id"))
                                case (6, let row?) where step % 5 == 0:
                                    _ = try await database.leave(device, row.uuid("id"))
                                case (7, _) where (worker + step) % 9 == 0:
                                    _ = try await database.erasures.erase(DeviceID(stored: device))
                                case (8, _): _ = try await database.register("late\(step)", Self.nine, "late")
                                case (9, _): _ = try await database.register(people[24], Self.nine, people[24])
                                default: break
                                }
                            }
                        }
                    }
                    for _ in 0..<2 { group.addTask { for _ in 0..<30 { _ = try await database.rematch() } } }
                    group.addTask { for _ in 0..<30 { _ = try await database.reminders.claimDue(limit: 5) } }
                    try await group.waitForAll()
                }
                while try await database.reminders.claimDue(limit: 100) != nil {}
                try await database.checkMatches()
            }
            #expect(
                try await database.count("schedule.task WHERE paired_at IS NOT NULL AND partner_id IS NOT NULL") > 0)
        }
    }
}

/// Joins and leaves, as a daemon reports them.
final class RoomReports {
    private let store: AttendanceStore
    private let writer = UUID()
    private var number = 0

    init(_ database: ScheduleDatabase) {
        store = AttendanceStore(database: database.client)
    }

    func come(_ room: UUID, _ task: UUID?) async throws {
        try await report(PresenceEvent(.joined, room: room, claimedIdentity: task, peers: 1, at: .now()))
    }

    func go(_ room: UUID, _ task: UUID?) async throws {
        try await report(PresenceEvent(.left, room: room, claimedIdentity: task, peers: 0, at: .now()))
    }

    private func report(_ event: PresenceEvent) async throws {
        number += 1
        try await store.report([event], by: writer, number: number, at: .now())
    }
}

extension ScheduleDatabase {
    var rematches: RematchStore {
        RematchStore(database: client, settings: ScheduleSettings(), grace: .seconds(15))
    }

    /// Runs a daemon's periodic rematch. Returns the number of new matches.
    func rematch() async throws -> Int {
        var pairs = 0
        for slot in try await rematches.slots() { pairs += try await rematches.rematch(slot) }
        return pairs
    }
}
