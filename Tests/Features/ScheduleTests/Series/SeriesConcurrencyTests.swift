import Domain
import Features
import FoundationEssentials
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Schedule

/// Series at the same time as all actions that make and end matches, over many connections, as with several daemons.
@Suite(.serialized) struct SeriesConcurrencyTests {
    private static let people = 8

    private static func act(_ step: Int, _ database: ScheduleDatabase) async throws {
        let device = "d\(Int.random(in: 0..<people))"
        let store = database.series()
        let day = 2 + Int.random(in: 0..<12)
        let start = "2026-12-\(day < 10 ? "0" : "")\(day)T09:00:00Z"
        let series = try await store.list(of: DeviceID(stored: device)).first
        let task = series?.tasks.randomElement()
        do {
            switch (Int.random(in: 0..<14), series, task) {
            case (0..<3, _, let task?): _ = try await database.leave(device, task.id)
            case (3..<5, _, let task?): _ = try await database.move(device, task.id, to: start)
            case (5..<7, let series?, _):
                _ = try await store.rename(SeriesRenaming(series: series.own, title: "step \(step % 3)"))
            case (7, let series?, _) where step % 3 == 0: _ = try await store.end(series.own)
            case (8, _, _) where step % 4 == 0: _ = try await database.erasures.erase(DeviceID(stored: device))
            case (9..<11, _, _): _ = try await database.register(device, start, "by hand")
            case (11, _, _): _ = try await database.cancel(device, start)
            default: _ = try await store.begin(ScheduleDatabase.series(device, in: "UTC"))
            }
        } catch is RequestError {
            // Refusals are expected.
        }
    }

    @Test(
        "A series has one task a day, even under concurrency"
    )
    func atOnce() async throws {
        try await ScheduleDatabase.with(now: "2026-12-01 12:00Z", connections: 16) { database in
            for round in 0..<4 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for worker in 0..<12 {
                        group.addTask { for step in 0..<25 { try await Self.act(worker + step, database) } }
                    }
                    // Two daemons create the tasks of series.
                    for _ in 0..<2 {
                        group.addTask {
                            let store = database.series { $0.seriesDays = 15 + round }
                            for _ in 0..<25 { while try await store.extendNext() != nil {} }
                        }
                    }
                    // All series are due for their daily look. The clock isn't advanced, because `checkPairs` would
                    // count ended matches as broken.
                    group.addTask {
                        try await database.run("UPDATE schedule.series SET next_check_at = core.clock()")
                    }
                    try await group.waitForAll()
                }
                try await database.checkPairs()
                let doubled = try await database.run(
                    """
                    SELECT series_id FROM schedule.task WHERE series_id IS NOT NULL
                    GROUP BY series_id, series_day HAVING count(*) > 1
                    """)
                #expect(doubled.isEmpty)
                let orphans = try await database.run(
                    """
                    SELECT task.id FROM schedule.task JOIN schedule.series ON series.id = task.series_id
                    WHERE task.device_id <> series.device_id OR task.series_day > series.created_until
                    """)
                #expect(orphans.isEmpty)
            }
            #expect(try await database.count("schedule.task WHERE series_id IS NOT NULL") > 0)
        }
    }

    @Test("Concurrent requests for one series create one series")
    func begunAtOnce() async throws {
        try await ScheduleDatabase.with(now: "2026-12-01 12:00Z", connections: 8) { database in
            let begun = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<16 {
                    group.addTask { try await database.series().begin(ScheduleDatabase.series("a")).isNew }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(begun == 1)
            #expect(try await database.count("schedule.series") == 1)
            #expect(try await database.count("schedule.task") == 14)
        }
    }
}

extension ScheduleDatabase {
    /// Returns when `count` statements wait for locks.
    func waits(_ count: Int) async throws {
        try await eventually("\(count) wait for a lock") {
            try await run(
                "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            ).count >= count
        }
    }
}
