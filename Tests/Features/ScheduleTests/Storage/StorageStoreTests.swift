import Domain
import Foundation
import Postgres
import Reminders
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Features
@testable import Notifications
@testable import Schedule

@Suite struct StorageStoreTests {
    private static let start = "2026-11-22T07:00:00Z"
    private static let year: Double = 400 * 86_400

    @Test("A device has a limited number of open tasks")
    func tasksPerDevice() async throws {
        try await ScheduleDatabase.with(now: Self.start) { database in
            let schedule = ScheduleStore(
                database: database.client, settings: ScheduleSettings(maxTasksPerDevice: 3))
            func register(_ device: String, _ hour: Int, _ title: String = "History") async throws
                -> RegistrationOutcome
            {
                try await schedule.register(
                    try ScheduleDatabase.request(device, "2026-11-22T\(hour):00:00Z", title, zone: "UTC"))
            }
            for hour in 10..<13 { #expect(try await register("ada", hour).isCreated) }
            let refused = try #require(try await register("ada", 13).refusal)
            #expect(refused.status == 429 && refused.code == "too_many_tasks" && refused.quota == .tasksPerDevice)
            // A repeated registration and a new title aren't counted as further tasks.
            #expect(try await register("ada", 10).refusal == nil)
            #expect(try await register("ada", 10, "Maths").task?.title == "Maths")
            #expect(try await register("bob", 13).isCreated)
            #expect(try await database.count("schedule.task") == 4)
            try await database.setClock("2026-11-22T10:00:00Z")
            #expect(try await register("ada", 13).isCreated)
            #expect(try await register("ada", 14).refusal?.code == "too_many_tasks")
            #expect(
                try await schedule.cancel(
                    .slot(try ScheduleDatabase.request("ada", "2026-11-22T11:00:00Z", "", zone: "UTC").slot)
                ).code == "cancelled")
            #expect(try await register("ada", 14).isCreated)
        }
    }

    @Test("Tables that have grown get statistics once")
    func statistics() async throws {
        try await ScheduleDatabase.with(now: Self.start) { database in
            let store = database.storage
            func rows() async throws -> Int {
                try await database.run(
                    "SELECT reltuples::bigint AS n FROM pg_class WHERE oid = 'conversations.participant'::regclass"
                )[0].integer("n")
            }
            try await database.run("ALTER TABLE conversations.participant SET (autovacuum_enabled = off)")
            try await store.analyzeGrown()
            #expect(try await rows() <= 0)
            for round in 1...2 {
                try await database.run(
                    """
                    WITH made AS (
                        INSERT INTO conversations.conversation (id, kind, members, created_at, used_at, checked_at)
                        VALUES (gen_random_uuid(), 'group', '{}', core.clock(), core.clock(), core.clock()) RETURNING id
                    )
                    INSERT INTO conversations.participant (conversation_id, user_id)
                    SELECT made.id, number FROM made, generate_series(1, \(round * 5_000)) AS number
                    """)
                #expect(try await store.analyzeGrown() > 0)
                #expect(try await rows() == (round == 1 ? 5_000 : 15_000))
            }
            try await database.run(
                """
                INSERT INTO conversations.participant (conversation_id, user_id)
                SELECT id, -1 FROM conversations.conversation LIMIT 1
                """)
            try await store.analyzeGrown()
            #expect(try await rows() == 15_000)
        }
    }

    @Test("A full table accepts only repeats and renewals")
    func full() async throws {
        try await ScheduleDatabase.with(now: Self.start) { database in
            let quota = StorageQuota(StorageLimits(tasks: 2, addresses: 2, calendars: 1))
            let schedule = ScheduleStore(database: database.client, settings: ScheduleSettings(), storage: quota)
            let addresses = AddressStore(database: database.client, storage: quota)
            let calendars = CalendarStore(database: database.client, storage: quota)
            func register(_ device: String, _ title: String = "x") async throws -> RegistrationOutcome {
                try await schedule.register(
                    try ScheduleDatabase.request(device, "2026-11-22T10:00:00Z", title, zone: "UTC"))
            }
            #expect(try await register("ada").isCreated)
            #expect(try await register("bob").isCreated)
            let refused = try #require(try await register("cleo").refusal)
            #expect(refused.status == 503 && refused.code == "storage_full" && refused.quota == .storedTasks)
            #expect(try await register("ada").refusal == nil)
            #expect(try await register("ada", "y").task?.title == "y")

            func token(_ device: String, _ token: String) async throws {
                try await addresses.registerToken(token, of: device)
            }
            try await token("ada", "aa")
            try await addresses.register("https://push.example/1", of: DeviceID(stored: "bob"), in: .webPush, most: 2)
            await #expect(throws: RequestError.storageFull(.addresses)) { try await token("cleo", "cc") }
            await #expect(throws: RequestError.storageFull(.addresses)) {
                try await addresses.register(
                    "https://push.example/2", of: DeviceID(stored: "bob"), in: .webPush, most: 2)
            }
            // A repeated address, a replaced device token and an address that moves to another device aren't counted as
            // further addresses.
            try await addresses.register("https://push.example/1", of: DeviceID(stored: "bob"), in: .webPush, most: 2)
            try await token("ada", "ab")
            try await token("cleo", "ab")
            #expect(try await database.count("core.address") == 2)

            let secret = try CalendarSecret.make()
            #expect(try await calendars.secret(of: DeviceID(stored: "ada"), candidate: secret) == secret)
            #expect(try await calendars.secret(of: DeviceID(stored: "ada"), candidate: .make()) == secret)
            await #expect(throws: RequestError.storageFull(.calendars)) {
                _ = try await calendars.secret(of: DeviceID(stored: "bob"), candidate: .make())
            }
        }
    }

    @Test("Rows are counted, and estimated in large tables")
    func counts() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            let store = database.storage
            #expect(try await store.counts() == Dictionary(uniqueKeysWithValues: StoredTable.allCases.map { ($0, 0) }))
            // Each statement adds 1,000 rows. If autovacuum ran during a larger one, it would see pages whose rows
            // aren't committed.
            func add(_ rows: ClosedRange<Int>) async throws {
                for first in stride(from: rows.lowerBound, through: rows.upperBound, by: 1_000) {
                    try await database.run(
                        """
                        INSERT INTO core.address (device_id, channel, address, details, registered_at, used_at)
                        SELECT number::text, 'apns', number::text, '{}', now(), now()
                        FROM generate_series(\(first), \(min(first + 999, rows.upperBound))) AS number
                        """)
                }
            }
            try await add(1...9_999)
            #expect(try await store.counts()[.addresses] == 9_999)
            // The estimate must be right with and without autovacuum.
            try await add(10_000...40_000)
            #expect((36_000...44_000).contains(try await store.counts()[.addresses] ?? 0))
            try await database.run("ANALYZE core.address")
            #expect((36_000...44_000).contains(try await store.counts()[.addresses] ?? 0))
            try await add(40_001...60_000)
            #expect((54_000...66_000).contains(try await store.counts()[.addresses] ?? 0))
        }
    }

    @Test("Unused addresses are removed")
    func unused() async throws {
        try await ScheduleDatabase.with(now: Self.start) { database in
            let storage = database.storage
            let calendars = CalendarStore(database: database.client, storage: StorageQuota())
            var feeds: [String: CalendarSecret] = [:]
            for device in ["gone", "renews", "promises", "reads", "waits"] {
                let id = DeviceID(stored: device)
                try await database.addresses.registerToken("t-\(device)", of: device)
                feeds[device] = try await calendars.secret(of: id, candidate: .make())
            }
            func remaining() async throws -> [[String]] {
                try await ["core.address", "schedule.calendar"].asyncMap { table in
                    try await database.run("SELECT device_id FROM \(table) ORDER BY 1")
                        .map { try $0.string("device_id") }
                }
            }
            // After almost a year all addresses are kept. Then some devices use them.
            try await database.setClock("2027-12-20T07:00:00Z")
            #expect(try await storage.deleteUnused(retention: Self.year) == 0)
            let renews = DeviceID(stored: "renews")
            try await database.addresses.registerToken("t-renews", of: "renews")
            _ = try await calendars.secret(of: renews, candidate: .make())
            _ = try await database.register("promises", "2027-12-20T09:00:00Z")
            _ = try await calendars.read(try #require(feeds["reads"]))
            // This device's task is in the future. The time of its registration doesn't matter.
            _ = try await database.register("waits", "2027-12-31T09:00:00Z")
            for table in ["core.address", "schedule.calendar"] {
                try await database.run(
                    "UPDATE \(table) SET used_at = '\(Self.start)' WHERE device_id = 'waits'")
            }
            try await database.setClock("2027-12-28T07:00:00Z")
            while try await storage.deleteUnused(retention: Self.year, limit: 1) > 0 {}
            #expect(
                try await remaining() == [["promises", "renews", "waits"], ["promises", "reads", "renews", "waits"]])
            try await database.setClock("2029-02-28T07:00:00Z")
            _ = try await database.reminders.claimDue(limit: 10)
            while try await database.deleteOld(retention: 0) > 0 {}
            while try await storage.deleteUnused(retention: Self.year) > 0 {}
            #expect(try await remaining() == [[], []])
        }
    }

    @Test("Preferences of removed devices are removed later")
    func preferences() async throws {
        try await ScheduleDatabase.with(now: Self.start) { database in
            let storage = database.storage
            let owners = ["task", "series", "address", "calendar", "gone"]
            for device in owners {
                let own = try #require(try await database.register(device, "2026-11-22T10:00:00Z").task)
                _ = try await database.register("\(device)'s partner", "2026-11-22T10:00:00Z")
                _ = try await database.preferences.prefer(OwnTask(id: own.id, device: DeviceID(stored: device)))
            }
            try await database.setClock("2027-12-20T07:00:00Z")
            #expect(try await storage.deleteUnused(retention: Self.year) == 0)
            try await database.run("DELETE FROM schedule.task")
            _ = try await database.register("task", "2027-12-21T09:00:00Z")
            try await database.addresses.registerToken("aa", of: "address")
            _ = try await CalendarStore(database: database.client, storage: StorageQuota()).secret(
                of: DeviceID(stored: "calendar"), candidate: .make())
            _ = try await database.series().begin(try ScheduleDatabase.series("series", until: "2027-12-30"))
            try await database.setClock("2027-12-28T07:00:00Z")
            while try await storage.deleteUnused(retention: Self.year, limit: 1) > 0 {}
            let kept = try await database.run("SELECT device_id FROM schedule.preference ORDER BY 1")
                .map { try $0.string("device_id") }
            #expect(kept == ["address", "calendar", "series", "task"])
            for table in ["task", "series"] { try await database.run("DELETE FROM schedule.\(table)") }
            try await database.setClock("2029-02-28T07:00:00Z")
            while try await storage.deleteUnused(retention: Self.year) > 0 {}
            #expect(try await database.count("schedule.preference") == 0)
        }
    }

    @Test("A task registered by hand counts as a use of its device")
    func noted() async throws {
        try await ScheduleDatabase.with(now: Self.start) { database in
            let storage = database.storage
            func used() async throws -> [String] {
                try await database.run(
                    "SELECT (used_at AT TIME ZONE 'UTC')::text AS used FROM core.address ORDER BY device_id"
                ).map { try $0.string("used") }
            }
            func purge() async throws {
                _ = try await database.reminders.claimDue(limit: 10)
                while try await database.deleteOld(retention: 86_400) > 0 {}
            }
            for device in ["ada", "bob", "series"] {
                try await database.addresses.registerToken("of \(device)", of: device)
            }
            _ = try await database.register("ada", "2026-11-23T06:00:00Z")
            _ = try await database.register("bob", "2026-11-25T10:00:00Z")
            _ = try await database.register("bob", "2026-11-25T09:00:00Z")
            _ = try await database.register("series", "2026-11-25T10:00:00Z")
            try await database.run(
                "UPDATE schedule.task SET series_id = gen_random_uuid() WHERE device_id = 'series'")
            try await database.setClock("2026-11-26T09:30:00Z")
            // Less than a day after the address was given; and one of bob's two, which was the first to start.
            try await purge()
            #expect(try await used() == ["2026-11-22 07:00:00", "2026-11-25 09:00:00", "2026-11-22 07:00:00"])
            // The other is kept: that is use, too, whenever it was.
            #expect(try await storage.deleteUnused(retention: 3_600) == 3)
            #expect(try await used() == ["2026-11-26 09:30:00"])
            try await database.setClock("2026-11-27T09:30:00Z")
            try await purge()
            #expect(try await storage.deleteUnused(retention: 3_600) == 1)
            #expect(try await used() == [])
        }
    }
}
