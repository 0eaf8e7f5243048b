import Basics
import Domain
import Features
import FoundationEssentials
import Postgres
import Reminders
import Rooms
import Schedule
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Matches

/// Cancelling and moving tasks at the same time as statements that don't lock the slot.
@Suite struct PartnerRaceTests {
    private static let nine = "2026-11-22T09:00:00Z"

    /// Runs `held` in a transaction, starts `statement`, which waits for its locks, then runs `meanwhile` in the
    /// transaction and commits.
    private static func run(
        _ statement: String, on database: ScheduleDatabase, whileHolding held: String, then meanwhile: String
    ) async throws -> Result<Void, any Error> {
        let holder = try await PostgresSession.connect(database.configuration)
        let other = try await PostgresSession.connect(database.configuration)
        try await holder.execute("BEGIN; \(held)")
        let waiting = Task { _ = try await other.execute(statement) }
        try await eventually("it waits for the lock") {
            try await database.run(
                "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ).count == 1
        }
        try await holder.execute("\(meanwhile); COMMIT")
        let result = await waiting.result
        await holder.close()
        await other.close()
        return result
    }

    @Test("An erasure that conflicts with a move starts again")
    func eraseBesideMove() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let task = try #require(try await database.register("a", Self.nine).task)
            _ = try await database.register("b", Self.nine)
            let result = try await Self.run(
                "SELECT schedule.erase_tasks(ARRAY['\(task.id)'::uuid])", on: database,
                whileHolding: "SELECT FROM schedule.due WHERE task_id = '\(task.id)' FOR UPDATE",
                then: """
                    SELECT schedule.move_task('a', '\(task.id)', NULL, 1795341600, NULL, NULL, NULL, 60, 7776000, 3600, 300)
                    """)
            let error = #expect(throws: PostgresError.self) { try result.get() }
            #expect(error?.kind == .conflict(sqlState: "40001"))
            _ = try await database.erasures.erase(DeviceID(stored: "a"))
            #expect(try await database.count("schedule.task") == 1)
            try await database.checkPairs()
        }
    }

    @Test("An erasure that conflicts with an accepted invitation starts again")
    func eraseBesideAccept() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let task = try #require(try await database.register("bob", Self.nine).task)
            _ = try await database.register("cem", Self.nine)
            let token = try #require(try await database.invite("ada", Self.nine).task?.invitation)
            let result = try await Self.run(
                "SELECT schedule.accept_invitation('bob', '\(token.text)', 'Art', NULL, 60, 7776000, 3600, 200)",
                on: database, whileHolding: "SELECT FROM schedule.due WHERE task_id = '\(task.id)' FOR UPDATE",
                then: "SELECT schedule.erase_tasks(ARRAY['\(task.id)'::uuid])")
            let error = #expect(throws: PostgresError.self) { try result.get() }
            #expect(error?.kind == .conflict(sqlState: "40001"))
            #expect(try await database.accept("bob", token).isCreated)
            try await database.checkPairs()
        }
    }

    @Test("A task moved during a long erasure of its device is erased too")
    func moveBesideLongErasing() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let task = try #require(try await database.register("a", Self.nine).task)
            try await database.crowd(of: "a", count: 600, after: "2026-11-22 12:00Z")
            let result = try await Self.run(
                "SELECT schedule.move_task('a', '\(task.id)', NULL, 1795341600, NULL, NULL, NULL, 60, 7776000, 3600, 300)",
                on: database, whileHolding: "SELECT core.lock_erasing('a')",
                then: "SELECT core.erase_device('a')")
            try result.get()
            while try await database.erasures.eraseMore(limit: 500) {}
            #expect(try await database.count("schedule.task") == 0)
        }
    }

    @Test("Leaving locks the room's members in the same order as reports")
    func leaveBesideReport() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let (task, _) = try await database.remindedPair("a", "b")
            try await AttendanceStore(database: database.client).report(
                [PresenceEvent(.joined, room: task.socketId, claimedIdentity: task.id, peers: 1, at: .now())],
                by: UUID(), number: 1, at: .now())
            let result = try await Self.run(
                "SELECT schedule.leave_task('a', '\(task.id)', 300)", on: database,
                whileHolding: "SELECT FROM core.attendance FOR UPDATE",
                then: "SELECT FROM core.presence FOR UPDATE NOWAIT")
            try result.get()
            #expect(try await database.count("core.presence") == 0)
        }
    }

    /// Inserts a block directly, without a request.
    private static func block(_ device: String, _ other: String, _ database: ScheduleDatabase) async throws -> UUID {
        try await database.run(
            """
            INSERT INTO core.block (id, device_id, blocked_id, title, starts_at, blocked_at)
            VALUES (gen_random_uuid(), '\(device)', '\(other)', 'x', core.clock(), core.clock()) RETURNING id
            """)[0].uuid("id")
    }

    private static func register(_ device: String) -> String {
        "SELECT schedule.register_task('\(device)', '\(device)', 'UTC', 1795338000, NULL, NULL, NULL, 60, 7776000, 3600, 200, 300)"
    }

    @Test("One of two users who ask again after the start becomes the partner")
    func askingAgain() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            var tasks: [String: UUID] = [:]
            _ = try await Self.block("eva", "fay", database)
            for device in ["ada", "bob", "eva", "fay"] {
                tasks[device] = try #require(try await database.register(device, Self.nine, device).task).id
            }
            try await database.setClock("2026-11-22 08:59:10Z")
            _ = try await database.reminders.claimDue(limit: 10)
            try await database.setClock("2026-11-22 09:00:10Z")
            _ = try await database.leave("bob", try #require(tasks["bob"]))
            let eva = try #require(tasks["eva"])
            let erased = try await Self.run(
                Self.register("eva"), on: database,
                whileHolding: "SELECT FROM reminders.reminder WHERE task_id = '\(eva)' FOR UPDATE",
                then: "SELECT schedule.erase_tasks(ARRAY['\(eva)'::uuid])")
            let error = #expect(throws: PostgresError.self) { try erased.get() }
            #expect(error?.kind == .conflict(sqlState: "40001"))
            #expect(try await database.count("schedule.task WHERE partner_id IS NOT NULL") == 0)
            let second = try await Self.run(
                Self.register("gus"), on: database, whileHolding: "SELECT schedule.lock_slot('\(Self.nine)')",
                then: Self.register("fay"))
            try second.get()
            #expect(try await database.count("schedule.task WHERE device_id = 'gus'") == 0)
            #expect(
                try await database.count("schedule.task WHERE device_id IN ('ada', 'fay') AND partner_id IS NOT NULL")
                    == 2)
            try await database.checkMatches()
        }
    }

    @Test("A user who registers while a block is undone is matched with the waiting user")
    func unblockBesideRegister() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let block = try await Self.block("a", "b", database)
            _ = try await database.register("a", Self.nine)
            let result = try await Self.run(
                "SELECT conversations.remove_block('a', '\(block)')", on: database,
                whileHolding: "SELECT schedule.lock_slot('\(Self.nine)')", then: Self.register("b"))
            try result.get()
            #expect(try await database.count("schedule.task WHERE partner_id IS NOT NULL") == 2)
            try await database.checkPairs()
        }
    }

    @Test(
        "Blocking or preferring a departing partner doesn't affect other users",
        arguments: [false, true])
    func regardBesideLeave(_ hasNext: Bool) async throws {
        for (table, function) in [
            ("core.block", "conversations.add_block('a', NULL,"),
            ("schedule.preference", "schedule.prefer_partner('a',"),
        ] {
            try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
                let own = try #require(try await database.register("a", Self.nine).task)
                let other = try #require(try await database.register("b", Self.nine).task)
                if hasNext { _ = try await database.register("cem", Self.nine, "cem") }
                let result = try await Self.run(
                    "SELECT \(function) '\(own.id)', 1000, true)", on: database,
                    whileHolding: "LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE",
                    then: "SELECT schedule.leave_task('b', '\(other.id)', 300)")
                try result.get()
                #expect(try await database.count(table) == 0)
                #expect(try await database.count("schedule.task WHERE partner_id IS NOT NULL") == (hasNext ? 2 : 0))
            }
        }
    }
}
