import Domain
import FoundationEssentials
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Features
@testable import Schedule

/// Series that are no longer used, that conflict with each other, or whose statements fail.
@Suite struct SeriesUpkeepTests {
    private static let day: Double = 86_400

    /// Creates all tasks of series that are due to be created.
    private static func extend(_ store: SeriesStore) async throws {
        while try await store.extendNext() != nil {}
    }

    @Test(
        "An unused series ends"
    )
    func unused() async throws {
        try await ScheduleDatabase.with(now: "2026-03-01 12:00Z") { database in
            let store = SeriesStore(
                database: database.client, settings: ScheduleSettings(), unusedAfter: .seconds(100 * Self.day))
            for device in ["gone", "asks", "comes", "promises"] {
                _ = try await store.begin(ScheduleDatabase.series(device, at: "09:00"))
            }
            try await database.setClock("2026-06-05 12:00Z")
            try await Self.extend(store)
            #expect(try await database.count("schedule.series") == 4)
            #expect(try await store.list(of: DeviceID(stored: "asks")).count == 1)
            _ = try await database.register("promises", "2026-06-06T15:00:00Z")
            try await database.run(
                """
                UPDATE schedule.task SET began_at = core.clock()
                WHERE id = (SELECT id FROM schedule.task WHERE device_id = 'comes' ORDER BY starts_at LIMIT 1)
                """)
            try await database.setClock("2026-06-12 12:00Z")
            try await Self.extend(store)
            let left = try await database.run("SELECT device_id FROM schedule.series ORDER BY 1")
            #expect(try left.map { try $0.string("device_id") } == ["asks", "comes", "promises"])
            #expect(
                try await database.count("schedule.task WHERE device_id = 'gone' AND starts_at > core.clock()") == 7)
        }
    }

    @Test("Tasks made by a series don't count as a use of an address")
    func addresses() async throws {
        try await ScheduleDatabase.with(now: "2026-03-01 12:00Z") { database in
            let storage = database.storage
            let store = database.series()
            _ = try await store.begin(ScheduleDatabase.series("gone"))
            try await database.run(
                """
                INSERT INTO core.address (device_id, channel, address, details, registered_at, used_at)
                VALUES ('gone', 'apns', 'aa', '{}', core.clock(), core.clock())
                """)
            try await database.setClock("2026-04-01 12:00Z")
            try await Self.extend(store)
            #expect(try await storage.deleteUnused(retention: 32 * Self.day) == 0)
            try await database.setClock("2026-04-10 12:00Z")
            #expect(try await storage.deleteUnused(retention: 32 * Self.day) == 1)
            #expect(try await database.count("core.address") == 0)
        }
    }

    @Test("After a change of rules, a series that waits for another follows soon")
    func neighbours() async throws {
        try await ScheduleDatabase.with(now: "2026-10-20 12:00Z") { database in
            let store = database.series()
            let until = "2026-10-22"
            _ = try await store.begin(ScheduleDatabase.series("a", at: "09:00", until: until))
            _ = try await store.begin(ScheduleDatabase.series("a", at: "10:00", until: until))
            // An hour earlier in UTC. The task that has to move to the other's slot is handled first.
            try await database.run(
                """
                UPDATE schedule.series SET time_zone = 'Europe/Paris',
                    next_check_at = core.clock() - CASE WHEN wall_time = 36000 THEN interval '2 s' ELSE interval '1 s' END
                """)
            try await Self.extend(store)
            func starts() async throws -> [String] {
                try await store.list(of: DeviceID(stored: "a")).flatMap { $0.starts.map { String($0.dropFirst(8)) } }
            }
            #expect(try await starts() == ["21T07:00:00Z", "22T07:00:00Z", "21T09:00:00Z", "22T09:00:00Z"])
            try await database.setClock("2026-10-20 12:10:01Z")
            try await Self.extend(store)
            #expect(try await starts() == ["21T07:00:00Z", "22T07:00:00Z", "21T08:00:00Z", "22T08:00:00Z"])
            let next = try await database.run(
                "SELECT FROM schedule.series WHERE next_check_at < core.clock() + interval '1 hour'")
            #expect(next.isEmpty)
        }
    }

    @Test("Created or renamed tasks are reported even if the series can't be read afterwards")
    func reported() async throws {
        try await ScheduleDatabase.with(now: "2026-10-20 12:00Z") { database in
            let store = database.series()
            let own = try await store.begin(ScheduleDatabase.series("a", until: "2026-10-23")).series
            try await database.run("DROP FUNCTION schedule.list_series(text)")
            let reported = EventRecorder<SeriesTasks>()
            await #expect(throws: PostgresError.self) {
                _ = try await store.begin(ScheduleDatabase.series("b", until: "2026-10-23")) { reported.append($0) }
            }
            await #expect(throws: PostgresError.self) {
                _ = try await store.rename(SeriesRenaming(series: own.own, title: "Art")) { reported.append($0) }
            }
            #expect(reported.all.map(\.made.count) == [3, 0] && reported.all.map(\.retitled) == [0, 3])
        }
    }

    @Test("A list reads the tasks of all series once")
    func cost() async throws {
        try await ScheduleDatabase.with(now: "2026-10-20 12:00Z") { database in
            try await database.run(
                """
                INSERT INTO schedule.series (id, device_id, title, wall_time, time_zone, days, created_until, next_check_at)
                SELECT gen_random_uuid(), 'a', 'History', n, 'UTC', 127, '2026-11-03', now() FROM generate_series(1, 100) AS n
                """)
            try await database.crowd(of: "a", count: 200, after: "2026-10-21 00:00Z")
            try await database.run(
                """
                UPDATE schedule.task SET series_day = '2026-10-21', series_id = (
                    SELECT series.id FROM schedule.series WHERE series.wall_time <= extract(second FROM task.starts_at) + 1
                    ORDER BY series.wall_time DESC LIMIT 1)
                """)
            #expect(try await database.series().list(of: DeviceID(stored: "a")).count == 100)
            // The list doesn't visit all 200 tasks for each of the 100 series.
            let visits = try await database.visits("schedule.list_series('a')")
            #expect(visits.allSatisfy { $0 < 4000 }, "\(visits)")
        }
    }
}
