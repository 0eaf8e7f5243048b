import Domain
import FoundationEssentials
import Observability
import Postgres
import Reminders
import Rooms
import Schedule
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Features
@testable import Notifications

/// A device with many rows is erased at once, and its rows are deleted in steps.
@Suite struct ScheduleErasureStepTests {
    private let nine = "2026-11-22T09:00:00Z"
    private let ten = "2026-11-22T10:00:00Z"
    private let big = DeviceID(stored: "big")

    /// Registers tasks of `big`: a match with `ann` at nine, a waiting task at ten, and `count` waiting tasks in the
    /// seconds after ten.
    private func with(count: Int, _ body: (ScheduleDatabase) async throws -> Void) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z", connections: 6) { database in
            _ = try await database.register("big", nine, "Secret")
            _ = try await database.register("ann", nine, "Maths")
            _ = try await database.register("big", ten, "Secret")
            try await database.crowd(of: "big", count: count, after: "2026-11-22 10:00Z")
            try await body(database)
        }
    }

    @Test("A device with thirty thousand tasks is invisible when its erasure is answered")
    func goneAtOnce() async throws {
        try await with(count: 30_000) { database in
            let room = try #require(try await database.day("big", "2026-11-22").slot("10:00")?.roomId)
            try await database.addresses.registerToken("ab", of: "big", isSandbox: true)
            try await database.run("SELECT schedule.ensure_calendar('big', 'feed', false)")
            try await database.serve([.webhook])
            try await database.run(
                """
                SELECT schedule.write_task_event('task.registered', task) FROM schedule.task AS task
                WHERE task.device_id = 'big' ORDER BY task.registered LIMIT 1
                """)
            #expect(try await database.erasures.erase(big))
            #expect(try await database.count("schedule.task") > 29_000)
            #expect(try await database.count("core.address") + database.count("schedule.calendar") == 0)

            // The erased tasks are gone for other devices, for the device itself, for rooms and for deliveries.
            let partner = try #require(try await database.day("ann", "2026-11-22").slot("09:00"))
            #expect(partner.hasSomebodyElse && partner.partnerTask == nil)
            #expect(try await database.register("ann", nine, "Maths").task?.partnerTitle == nil)
            for device in ["ann", "big"] {
                let day = try await database.day(device, "2026-11-22", everything: true)
                #expect(day.slots.count == 16 && day.slot("10:00")?.hasSomebodyElse == false)
                #expect(day.slots.filter(\.hasOwnTask).count == (device == "ann" ? 1 : 0))
            }
            #expect(try await database.reminders.findRoom(room) == .unknown)
            #expect(try await database.cancel("big", ten).code == "no_such_task")
            let deliveries = try await database.lease(.webhook).deliveries
            #expect(deliveries.filter { $0.event == "task.registered" }.map(\.title) == [nil])
            #expect(deliveries.filter { $0.event == "device.erased" }.count == 1)

            // An erased device is never matched, and the same device can start again in the same slots.
            #expect(try await database.register("cleo", ten, "Own").task?.isPaired == false)
            for (slot, isPaired) in [(nine, false), (ten, true)] {
                let task = try #require(try await database.register("big", slot, "Anew").task)
                #expect(task.isPaired == isPaired && task.title == "Anew")
            }
            try await database.run("SELECT schedule.ensure_calendar('big', 'feed', false)")
            #expect(try await database.run("SELECT task_id FROM schedule.read_calendar('feed')").count == 2)

            // A match with an erased user opens the room and reminds nobody.
            try await database.setClock("2026-11-22 08:59Z")
            let claim = try #require(try await database.reminders.claimDue(limit: 10))
            #expect(claim.reminders.map(\.device.text) == ["ann", "big"] && claim.rooms.count == 1)
            #expect(claim.reminders.allSatisfy { !$0.payload.contains("Secret") })
            #expect(try await database.reminders.backlog(of: big, after: nil).unseen.count == 1)

            while try await database.erasures.eraseMore(limit: 5_000) {}
            #expect(try await database.count("core.erasure") == 0)
            for (table, count) in [("schedule.task", 5), ("schedule.due", 2), ("reminders.reminder", 3)] {
                #expect(try await database.count(table) == count, "\(table)")
            }
            #expect(try await database.count("schedule.task WHERE title = 'Secret'") == 0)
        }
    }

    @Test("The cost of an erasure step depends only on its size")
    func cost() async throws {
        try await with(count: 20_000) { database in
            #expect(try await database.erasures.erase(big))
            let visits = try await database.visits("core.erase_more(500)")
            // A step visits about twenty rows for each deleted task, and also the rows that earlier calls have left,
            // because all calls run in one transaction here.
            for count in visits { #expect((1...30_000).contains(count)) }
        }
    }

    @Test("A blocked step of an erasure doesn't delay other tasks")
    func holdsNothingUp() async throws {
        try await with(count: 2_000) { database in
            #expect(try await database.erasures.erase(big))
            _ = try await database.register("cleo", "2026-11-22T09:00:01Z")
            // The client has one connection, because the session that takes the lock must also release it.
            var configuration = database.configuration
            configuration.maxConnections = 1
            let holder = PostgresClient(configuration: configuration)
            let lock = PostgresStatement(name: "", sql: "SELECT pg_advisory_lock(4711)")
            let unlock = PostgresStatement(name: "", sql: "SELECT pg_advisory_unlock_all()")
            try await database.run(
                "CREATE FUNCTION letsswitch.test_pause() RETURNS trigger LANGUAGE plpgsql AS $$ "
                    + "BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END $$")
            try await database.run(
                "CREATE TRIGGER test_pause AFTER DELETE ON schedule.task FOR EACH ROW "
                    + "WHEN (OLD.device_id = 'big') EXECUTE FUNCTION letsswitch.test_pause()")
            _ = try await holder.query(lock, [], timeout: nil)
            // The erasure has a client with one connection of its own, so that no other statement waits behind it.
            let eraser = PostgresClient(configuration: configuration)
            async let hasMore = ErasureStore(database: eraser).eraseMore(limit: 500)
            try await eventually("the step holds its locks") {
                try await database.run("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted").count == 1
            }
            _ = try await database.register("dora", ten)
            try await database.setClock("2026-11-22 08:59:01Z")
            let claim = try #require(try await database.reminders.claimDue(limit: 100))
            #expect(claim.reminders.map(\.device.text) == ["ann", "cleo"] && claim.rooms.count == 1)
            #expect(try await database.register("ann", "2026-11-22T10:00:01Z").task?.isPaired == false)
            #expect(try await database.erasures.erase(DeviceID(stored: "ann")) == false)
            _ = try await holder.query(unlock, [], timeout: nil)
            #expect(try await hasMore)
            await eraser.shutdown()
            await holder.shutdown()
        }
    }

    @Test("Another daemon completes an interrupted erasure")
    func workers() async throws {
        try await with(count: 2_000) { database in
            try await database.crowd(of: "poison", count: 600, after: "2026-11-22 12:00Z")
            try await database.run(
                "CREATE FUNCTION letsswitch.test_poison() RETURNS trigger LANGUAGE plpgsql AS $$ "
                    + "BEGIN RAISE 'poison'; END $$")
            try await database.run(
                "CREATE TRIGGER test_poison BEFORE DELETE ON schedule.task FOR EACH ROW "
                    + "WHEN (OLD.device_id = 'poison') EXECUTE FUNCTION letsswitch.test_poison()")
            #expect(try await database.erasures.erase(DeviceID(stored: "poison")))
            #expect(try await database.erasures.erase(big))
            let log = Log(level: .error, format: .text, descriptor: 2)
            for turn in 1...2 {
                let worker = ErasureWorker(store: database.erasures, log: log)
                let running = Task { await worker.run() }
                if turn == 1 {
                    try await eventually("some are deleted") {
                        try await database.count("schedule.task WHERE device_id = 'big'") < 2_000
                    }
                } else {
                    try await eventually("all is deleted") {
                        try await database.count("core.erasure WHERE device_id = 'big'") == 0
                    }
                }
                await worker.stop(within: .zero)
                await running.value
            }
            #expect(try await database.count("schedule.task WHERE device_id = 'big'") == 0)
            #expect(try await database.count("schedule.task WHERE device_id = 'poison'") == 600)
            #expect(try await database.count("core.erasure") == 1)
        }
    }
}
