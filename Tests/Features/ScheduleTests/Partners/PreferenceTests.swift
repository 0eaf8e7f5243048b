import Domain
import Features
import FoundationEssentials
import Postgres
import Reminders
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Schedule

/// Preferences for a former partner.
@Suite struct PreferenceTests {
    private static let eight = "2026-11-22T08:00:00Z"
    private static let nine = "2026-11-22T09:00:00Z"

    /// Matches `device` and `other`, and then `device` prefers `other`.
    private static func prefer(
        _ device: String, _ other: String, _ startsAt: String, _ database: ScheduleDatabase
    ) async throws -> Preference {
        let own = try #require(try await database.register(device, startsAt).task)
        _ = try await database.register(other, startsAt, "Maths")
        return try await database.preferences.prefer(OwnTask(id: own.id, device: DeviceID(stored: device))).preference
    }

    /// Blocks a user who isn't the partner, so that several users wait in a slot.
    private static func block(_ device: String, _ other: String, _ database: ScheduleDatabase) async throws {
        try await database.run(
            """
            INSERT INTO core.block (id, device_id, blocked_id, title, starts_at, blocked_at)
            VALUES (gen_random_uuid(), '\(device)', '\(other)', 'Maths', now(), now())
            """)
    }

    @Test("A preferred user is matched first, but never a blocked one")
    func first() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 07:00Z") { database in
            _ = try await Self.prefer("ada", "cem", "2026-11-22T08:00:00Z", database)
            _ = try await Self.prefer("dan", "eva", "2026-11-22T08:01:00Z", database)
            try await Self.block("bob", "cem", database)
            try await Self.block("bob", "dan", database)
            try await Self.block("cem", "dan", database)
            for device in ["bob", "cem", "dan"] {
                #expect(try await database.register(device, Self.nine, device).task?.isPaired == false)
            }
            #expect(try await database.register("ada", Self.nine).task?.partnerTitle == "cem")
            #expect(try await database.register("eva", Self.nine).task?.partnerTitle == "dan")
            #expect(try await database.register("fay", Self.nine).task?.partnerTitle == "bob")

            try await Self.block("ada", "cem", database)
            for device in ["bob", "cem"] { _ = try await database.register(device, "2026-11-22T10:00:00Z", device) }
            #expect(try await database.register("ada", "2026-11-22T10:00:00Z").task?.partnerTitle == "bob")
        }
    }

    @Test("A user whose partner left is matched with a preferred user first")
    func others() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 07:00Z") { database in
            _ = try await Self.prefer("ada", "cem", Self.eight, database)
            let ada = try #require(try await database.register("ada", "2026-11-22T10:00:00Z").task)
            try await Self.block("bob", "cem", database)
            for device in ["bob", "cem"] { _ = try await database.register(device, Self.nine, device) }
            let moved = try await database.move("ada", ada.id, to: Self.nine)
            #expect(moved.task?.partnerTitle == "cem")
        }
    }

    @Test("Users who are alone after the start are matched with preferred users first")
    func rematch() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 07:00Z") { database in
            _ = try await Self.prefer("ada", "eva", Self.eight, database)
            var tasks: [String: TaskResponse] = [:]
            for device in ["ada", "bob", "cem", "dan", "eva", "fay"] {
                tasks[device] = try await database.register(device, Self.nine, device).task
            }
            try await database.setClock("2026-11-22 08:59:10Z")
            _ = try await database.reminders.claimDue(limit: 20)
            let peers = RoomReports(database)
            for device in ["ada", "cem", "eva"] {
                let task = try #require(tasks[device])
                try await peers.come(task.socketId, task.id)
            }
            try await database.setClock("2026-11-22 09:01Z")
            #expect(try await database.rematch() == 1)
            let partner = try await database.run(
                """
                SELECT partner.title FROM schedule.task JOIN schedule.task AS partner ON partner.id = task.partner_id
                WHERE task.device_id = 'ada' AND task.starts_at = '\(Self.nine)'
                """)
            #expect(try partner.first?.string("title") == "eva")
        }
    }

    @Test("A preference belongs to its owner, and is erased with either device")
    func list() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 07:00Z") { database in
            let store = database.preferences
            let (ada, bob) = (DeviceID(stored: "ada"), DeviceID(stored: "bob"))
            let made = try await Self.prefer("ada", "bob", Self.eight, database)
            #expect(made.title == "Maths" && made.startsAt.description == Self.eight)
            let own = try #require(try await database.register("ada", Self.eight).task)
            let again = try await store.prefer(OwnTask(id: own.id, device: ada))
            #expect(!again.isNew && again.preference == made)
            let foreign = await #expect(throws: RequestError.self) {
                try await store.prefer(OwnTask(id: own.id, device: bob))
            }
            #expect(foreign?.code == "no_such_task")
            let alone = try #require(try await database.register("ada", Self.nine).task)
            let error = await #expect(throws: RequestError.self) {
                try await store.prefer(OwnTask(id: alone.id, device: ada))
            }
            #expect(error?.code == "no_partner")
            #expect(try await store.preferences(of: ada).preferences == [made])
            #expect(try await store.preferences(of: bob).preferences.isEmpty)
            let unknown = await #expect(throws: RequestError.self) { try await store.remove(made.id, of: bob) }
            #expect(unknown?.code == "no_such_preference")
            try await store.remove(made.id, of: ada)
            #expect(try await store.preferences(of: ada).preferences.isEmpty)

            _ = try await store.prefer(OwnTask(id: own.id, device: ada))
            _ = try await Self.prefer("bob", "cem", "2026-11-22T09:30:00Z", database)
            _ = try await database.erasures.erase(bob)
            #expect(try await database.count("schedule.preference") == 0)
        }
    }

    @Test("A device has at most a thousand preferences")
    func limit() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 07:00Z") { database in
            let store = database.preferences
            let device = DeviceID(stored: "ada")
            try await database.run(
                """
                INSERT INTO schedule.preference (id, device_id, preferred_id, title, starts_at, preferred_at)
                SELECT gen_random_uuid(), 'ada', 'd' || n, 'Maths', now(), now() + n * interval '1 second'
                FROM generate_series(1, 1000) AS n
                """)
            let own = try #require(try await database.register("ada", Self.eight).task)
            _ = try await database.register("bob", Self.eight)
            let error = await #expect(throws: RequestError.self) {
                try await store.prefer(OwnTask(id: own.id, device: device))
            }
            #expect(error?.status == 429 && error?.code == "too_many_preferences")
            var (page, hasMore) = try await store.preferences(of: device)
            var ids = Set(page.map(\.id))
            var pages = 1
            while hasMore {
                (page, hasMore) = try await store.preferences(of: device, before: page.last?.id)
                ids.formUnion(page.map(\.id))
                pages += 1
            }
            #expect(ids.count == 1000 && pages == 10)
        }
    }

    @Test("Above the server's limit, no preference is added")
    func full() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 07:00Z") { database in
            var limits = StorageLimits()
            limits.preferences = 1
            let store = PreferenceStore(database: database.client, storage: StorageQuota(limits))
            var owns: [OwnTask] = []
            for (device, other) in [("ada", "bob"), ("cem", "dan")] {
                let startsAt = device == "ada" ? Self.eight : Self.nine
                let own = try #require(try await database.register(device, startsAt).task)
                _ = try await database.register(other, startsAt)
                owns.append(OwnTask(id: own.id, device: DeviceID(stored: device)))
            }
            #expect(try await store.prefer(owns[0]).isNew)
            #expect(try await !store.prefer(owns[0]).isNew)
            let error = await #expect(throws: RequestError.self) { try await store.prefer(owns[1]) }
            #expect(error?.status == 503 && error?.code == "storage_full")
            #expect(try await database.count("schedule.preference") == 1)
        }
    }
}

extension ScheduleDatabase {
    var preferences: PreferenceStore { PreferenceStore(database: client) }
}
