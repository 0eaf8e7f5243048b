import Domain
import FoundationEssentials
import Postgres
import Reminders
import Rooms
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Schedule

/// A user who registered in time but has no partner can ask again after the start, and is matched if somebody waits.
@Suite struct RematchRequestTests {
    private static let nine = "2026-11-22T09:00:00Z"

    /// Ada and Bob are partners at nine, and Eva waits alone. All reminders are claimed.
    private static func three(_ database: ScheduleDatabase) async throws -> [String: TaskResponse] {
        var tasks: [String: TaskResponse] = [:]
        for device in ["ada", "bob", "eva"] {
            tasks[device] = try await database.register(device, nine, device).task
        }
        try await database.setClock("2026-11-22 08:59:10Z")
        _ = try await database.reminders.claimDue(limit: 10)
        return tasks
    }

    private static func partner(_ device: String, _ database: ScheduleDatabase) async throws -> String? {
        try await database.run(
            """
            SELECT partner.device_id AS partner FROM schedule.task
            LEFT JOIN schedule.task AS partner ON partner.id = task.partner_id WHERE task.device_id = '\(device)'
            """)[0].optionalString("partner")
    }

    @Test(
        "A waiting user isn't matched with an absent one"
    )
    func absentPartner() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let tasks = try await Self.three(database)
            let (ada, eva) = (try #require(tasks["ada"]), try #require(tasks["eva"]))
            try await RoomReports(database).come(ada.socketId, ada.id)
            #expect(try await database.register("eva", Self.nine, "eva") == .repeated(eva))
            try await database.setClock("2026-11-22 09:00:30Z")
            #expect(try await database.register("eva", Self.nine, "eva").refusal?.code == "registration_closed")
            try await database.setClock("2026-11-22 09:01:00Z")
            #expect(try await database.rematch() == 0)
            #expect(try await Self.partner("eva", database) == nil)

            guard case .retitled(let found, let change) = try await database.register("eva", Self.nine, "Art") else {
                Issue.record("it has no partner")
                return
            }
            #expect(found.id == eva.id && found.isPaired && found.partnerTitle == "ada" && found.title == "Art")
            #expect(found.socketId != ada.socketId && found.socketId != eva.socketId)
            #expect(Set(change.devices.map(\.text)) == ["ada", "eva"] && change.slotOpened == nil)
            #expect(try await Self.partner("ada", database) == "eva")
            #expect(try await Self.partner("bob", database) == nil)
            guard case .open = try await database.reminders.findRoom(found.socketId) else {
                Issue.record("the room isn't open")
                return
            }
            #expect(try await database.reminders.findRoom(ada.socketId) == .unknown)
            let rematches = try await database.rematches.recent(within: .seconds(60))
            #expect(rematches.first { $0.device.text == "ada" }?.partnerTask == "Art")
            #expect(rematches.contains { $0.device.text == "bob" } && !rematches.contains { $0.device.text == "eva" })
            // The answer may be lost, so a repetition works. A new title comes too late for a matched task.
            #expect(try await database.register("eva", Self.nine, "Art") == .repeated(found))
            #expect(try await database.register("eva", Self.nine, "eva").refusal?.code == "registration_closed")
            #expect(try await database.register("fay", Self.nine).refusal?.code == "registration_closed")
            try await database.checkMatches()
        }
    }

    @Test("A user whose partner left waits for one who asks again, and otherwise for anyone")
    func letDown() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let tasks = try await Self.three(database)
            try await database.setClock("2026-11-22 09:00:10Z")
            _ = try await database.leave("bob", try #require(tasks["bob"]).id)
            #expect(try await Self.partner("ada", database) == nil)
            let room = try await database.run("SELECT room_id FROM schedule.task WHERE device_id = 'ada'")[0]
                .uuid("room_id")
            try await RoomReports(database).come(room, try #require(tasks["ada"]).id)
            try await Self.block("eva", "ada", database)
            #expect(try await database.register("eva", Self.nine, "eva").refusal?.code == "registration_closed")
            try await database.run("DELETE FROM core.block")
            let found = try #require(try await database.register("eva", Self.nine, "eva").task)
            #expect(found.isPaired && found.socketId == room)
            try await database.checkMatches()

            // Eva has a minute to come.
            try await database.setClock("2026-11-22 09:01:00Z")
            #expect(try await database.rematches.slots().isEmpty)
            try await database.setClock("2026-11-22 09:01:10Z")
            #expect(try await database.rematch() == 0)
            #expect(try await database.register("gus", Self.nine).task?.isPaired == true)
            #expect(try await Self.partner("ada", database) == "gus")
            // Eva now has her own room and waits in it.
            #expect(try await database.register("eva", Self.nine, "eva").refusal?.code == "registration_closed")
            try await database.setClock("2026-11-22 09:05:00Z")
            #expect(try await database.register("hal", Self.nine).refusal?.code == "registration_closed")
        }
    }

    /// Blocks a user, so that several users wait in the same slot.
    private static func block(_ device: String, _ other: String, _ database: ScheduleDatabase) async throws {
        try await database.run(
            """
            INSERT INTO core.block (id, device_id, blocked_id, title, starts_at, blocked_at)
            VALUES (gen_random_uuid(), '\(device)', '\(other)', 'x', core.clock(), core.clock())
            """)
    }

    @Test("Concurrent requests, departures and checks leave each user in one match or waiting")
    func atOnce() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z", connections: 12) { database in
            let tasks = try await Self.three(database)
            try await database.setClock("2026-11-22 08:00Z")
            // None of these users is matched with another.
            let odd = ["eva", "fay", "gus", "hal"]
            for (index, device) in odd.enumerated() {
                for other in odd[..<index] { try await Self.block(device, other, database) }
                if index > 0 { #expect(try await database.register(device, Self.nine, device).task?.isPaired == false) }
            }
            try await database.setClock("2026-11-22 08:59:20Z")
            _ = try await database.reminders.claimDue(limit: 10)
            let ada = try #require(tasks["ada"])
            try await RoomReports(database).come(ada.socketId, ada.id)
            try await database.setClock("2026-11-22 09:01:00Z")
            #expect(try await database.rematch() == 0)
            let found = try await withThrowingTaskGroup(of: Bool.self) { group in
                for device in odd + ["ida", "jon"] {
                    group.addTask {
                        try await database.register(device, Self.nine, device).task?.isPaired == true
                    }
                }
                group.addTask { try await database.rematch() > 0 }
                var found = 0
                for try await isPaired in group where isPaired { found += 1 }
                return found
            }
            #expect(found == 1)
            _ = try await database.reminders.claimDue(limit: 10)
            try await database.checkMatches()
        }
    }
}
