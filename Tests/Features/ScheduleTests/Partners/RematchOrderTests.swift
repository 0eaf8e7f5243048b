import Domain
import FoundationEssentials
import Postgres
import Reminders
import ScheduleTestSupport
import Testing

@testable import Schedule

/// The order in which waiting users are matched after the start.
@Suite struct RematchOrderTests {
    private static let nine = "2026-11-22T09:00:00Z"

    private static func partner(of device: String, _ database: ScheduleDatabase) async throws -> String? {
        try await database.run(
            """
            SELECT partner.device_id AS partner FROM schedule.task
            JOIN schedule.task AS partner ON partner.id = task.partner_id WHERE task.device_id = '\(device)'
            """
        ).first?.string("partner")
    }

    /// Registers these devices, so that they are matched in this order, and claims their reminders.
    private static func matches(
        of devices: [String], _ database: ScheduleDatabase
    ) async throws -> [String: TaskResponse] {
        var tasks: [String: TaskResponse] = [:]
        for device in devices { tasks[device] = try await database.register(device, nine, device).task }
        try await database.setClock("2026-11-22 08:59:10Z")
        _ = try await database.reminders.claimDue(limit: 10)
        return tasks
    }

    @Test("Two present users are matched before an absent one")
    func presentFirst() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let tasks = try await Self.matches(of: ["ada", "bob", "cem", "eva", "dan", "fay"], database)
            // Bob has lost his partner, and isn't in a room.
            _ = try await database.leave("ada", try #require(tasks["ada"]).id)
            let peers = RoomReports(database)
            for device in ["cem", "dan"] {
                let task = try #require(tasks[device])
                try await peers.come(task.socketId, task.id)
            }
            try await database.setClock("2026-11-22 09:01:00Z")
            #expect(try await database.rematch() == 1)
            #expect(try await Self.partner(of: "cem", database) == "dan")
            try await database.checkMatches()
            // Eva is in a room and Bob isn't, so a late user is matched with her.
            let eva = try #require(
                try await database.run("SELECT id, room_id FROM schedule.task WHERE device_id = 'eva'").first)
            try await peers.come(try eva.uuid("room_id"), try eva.uuid("id"))
            try await database.run("UPDATE schedule.task SET is_absent = false WHERE device_id = 'eva'")
            #expect(try await database.register("gus", Self.nine).task?.partnerTitle == "eva")
        }
    }

    @Test("A late unnamed user waits in its room and is matched there")
    func unnamedLate() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let tasks = try await Self.matches(of: ["ada", "bob", "cem", "dan"], database)
            let peers = RoomReports(database)
            for device in ["ada", "cem"] {
                let task = try #require(tasks[device])
                try await peers.come(task.socketId, task.id)
            }
            try await database.setClock("2026-11-22 09:01:00Z")
            #expect(try await database.rematch() == 1)
            // The published app enters the room without naming a task. Bob uses it, and Dan names his task.
            let rooms = try await database.run(
                "SELECT id, room_id, device_id FROM schedule.task WHERE is_absent ORDER BY device_id")
            let bobs = try rooms[0].uuid("room_id")
            try await peers.come(bobs, nil)
            #expect(try await database.rematch() == 0)
            try await peers.come(try rooms[1].uuid("room_id"), try rooms[1].uuid("id"))
            #expect(try await database.rematch() == 1)
            #expect(try await Self.partner(of: "bob", database) == "dan")
            let room = try await database.run("SELECT room_id FROM schedule.task WHERE device_id = 'dan'")
            // The task can't be sent to another room.
            #expect(try room[0].uuid("room_id") == bobs)
            try await database.checkMatches()
        }
    }
}
