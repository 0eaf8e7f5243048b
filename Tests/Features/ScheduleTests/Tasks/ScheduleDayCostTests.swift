import FoundationEssentials
import Postgres
import Schedule
import ScheduleTestSupport
import Testing

@testable import Domain

/// A device with tasks at thousands of different seconds doesn't make the day slow for others.
@Suite struct ScheduleDayCostTests {
    private let day = "'UTC', NULL, date '2026-11-22' - date '1970-01-01', true)"

    @Test("A day shows the nearest slots and limited numbers of own tasks")
    func limits() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 09:30Z") { database in
            try await database.crowd(of: "stranger", count: 3_000, after: "2026-11-22 10:00:10Z")
            try await database.crowd(of: "busy", count: 1_000, after: "2026-11-22 09:20:10Z")
            _ = try await database.register("b", "2026-11-22T18:00:00Z")

            let day = try await database.day("ada", "2026-11-22", everything: true)
            #expect(day.slots.count == 16 + 50)
            let others = day.slots.map(\.key).filter { !$0.hasSuffix(":00") }
            #expect(others.first == "09:31:01" && others.last == "09:31:50")
            #expect(day.slot("18:00")?.hasSomebodyElse == true)

            let busy = try await database.day("busy", "2026-11-22", everything: true)
            let own = busy.slots.filter(\.hasOwnTask).map(\.key)
            #expect(own.count == 400 && own.first == "09:26:40" && own.last == "09:33:19")

            // The list of a future day begins with its first tasks.
            try await database.setClock("2026-11-20 12:00Z")
            let ahead = try await database.day("busy", "2026-11-22", everything: true).slots.filter(\.hasOwnTask)
            #expect(ahead.count == 200 && ahead.first?.key == "09:20:11")
        }
    }

    @Test("A day of a device with thirty thousand tasks visits few rows, also with a generic plan")
    func visits() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 09:30Z") { database in
            // First the statistics know of one task, then of thousands.
            _ = try await database.register("big", "2026-11-22T09:40:00Z")
            try await database.run("ANALYZE schedule.task, schedule.due")
            for isKnown in [false, true] {
                if isKnown {
                    try await database.run("ANALYZE schedule.task, schedule.due")
                } else {
                    try await database.crowd(of: "big", count: 30_000, after: "2026-11-22 09:40:10Z")
                    try await database.crowd(of: "stranger", count: 3_000, after: "2026-11-22 18:30:00Z")
                }
                // The device's own waiting tasks are skipped, at most this many.
                let big = try await database.visits("schedule.day_schedule('big', \(day)")
                #expect(big.allSatisfy { $0 < 4_000 }, "\(big)")
                for device in ["ada", "stranger"] {
                    let visits = try await database.visits("schedule.day_schedule('\(device)', \(day)")
                    #expect(visits.allSatisfy { $0 < 2_000 }, "\(device): \(visits)")
                }
                // The app's way: the sixteen, in the zone of the device's latest task.
                let sessions = try await database.visits(
                    "schedule.day_schedule('big', NULL, NULL, date '2026-11-22' - date '1970-01-01', false)")
                #expect(sessions.allSatisfy { $0 < 200 }, "\(sessions)")
            }
        }
    }

    @Test("The cost of one task or feed doesn't grow with thirty thousand others")
    func siblings() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 09:30Z") { database in
            let own = try #require(try await database.register("big", "2026-11-22T09:40:00Z").task)
            try await database.crowd(of: "big", count: 30_000, after: "2026-11-22 09:40:10Z")
            try await database.run("SELECT schedule.ensure_calendar('big', 'secret', false)")
            for (call, most) in [
                ("schedule.find_room('\(own.socketId)')", 50),
                ("reminders.next_due()", 50),
                ("reminders.open_rooms()", 50),
                // The calendar has two thousand entries.
                ("schedule.read_calendar('secret')", 20_000),
                (
                    "schedule.register_task('big', 'Again', 'UTC', \(own.startsAt.seconds), "
                        + "NULL, NULL, NULL, 60, 1e7, 3600)", 100
                ),
                ("schedule.cancel_task('big', gen_random_uuid(), NULL, NULL, NULL, NULL, NULL)", 50),
            ] {
                let visits = try await database.visits(call)
                #expect(visits.allSatisfy { $0 < most }, "\(call): \(visits)")
            }
        }
    }
}
