import Domain
import Features
import FoundationEssentials
import Postgres
import Reminders
import Rooms
import Schedule
import ScheduleTestSupport
import Testing

@Suite struct ScheduleErasureTests {
    private let nine = "2026-11-22T09:00:00Z"

    @Test("An erasure keeps only the match and the partner's task")
    func beforeTheReminder() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let room = try #require(try await database.register("a", nine, "Secret").task).socketId
            _ = try await database.register("b", nine, "Maths")
            _ = try await database.register("a", "2026-11-22T10:00:00Z", "Alone")
            try await database.addresses.registerToken("ab", of: "a", isSandbox: true)
            #expect(try await database.erasures.erase(DeviceID(stored: "a")) == false)
            try await expectNoTrace(database)

            let partner = try #require(try await database.day("b", "2026-11-22").slot("09:00"))
            #expect(partner.hasSomebodyElse && partner.partnerTask == nil && partner.roomId == room)
            #expect(try await database.cancel("b", nine).code == "has_partner")
            // A new task of an erased device isn't matched with the device's erased task.
            #expect(try await database.register("a", nine).task?.isPaired == false)

            try await database.setClock("2026-11-22 08:59Z")
            let claim = try #require(try await database.reminders.claimDue(limit: 10))
            #expect(claim.reminders.map(\.device.text) == ["b", "a"])
            #expect(claim.rooms.map(\.id) == [room])
            #expect(!claim.reminders[0].payload.contains("partnerTask"))
            #expect(claim.reminders[0].payload.contains(room.uuidString))
        }
    }

    @Test("An erasure after the reminder removes the title from the partner's reminder too")
    func afterTheReminder() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let room = try #require(try await database.register("a", nine, "Secret").task).socketId
            _ = try await database.register("b", nine, "Maths")
            try await database.setClock("2026-11-22 08:59Z")
            let before = try #require(try await database.reminders.claimDue(limit: 10)).reminders[1]
            _ = try await database.erasures.erase(DeviceID(stored: "a"))
            try await expectNoTrace(database)
            let left = try await database.reminders.backlog(of: DeviceID(stored: "b"), after: nil).unseen
            #expect(left.map(\.id) == [before.id])
            #expect(left.first?.payload == before.payload.replacing(#","partnerTask":"Secret""#, with: ""))
            #expect(try await database.reminders.findRoom(room) == .open(closesAt: 1_795_341_600))
        }
    }

    @Test("A match of two erased users reminds neither of them")
    func both() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let room = try #require(try await database.register("a", nine, "Secret").task).socketId
            _ = try await database.register("b", nine, "Secret")
            for device in ["a", "b"] { _ = try await database.erasures.erase(DeviceID(stored: device)) }
            try await database.setClock("2026-11-22 08:59Z")
            let claim = try #require(try await database.reminders.claimDue(limit: 10))
            #expect(claim.reminders.isEmpty && claim.rooms.map(\.id) == [room])
            #expect(try await database.deleteOld(retention: 86_400) == 0)
            try await database.setClock("2026-11-22 10:00Z")
            #expect(try await database.deleteOld(retention: 86_400) == 2)
            #expect(
                try await database.count("schedule.task") + database.count("reminders.reminder")
                    + database.count("reminders.claim") == 0)
        }
    }

    @Test("Old history is purged in steps")
    func purge() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            for device in ["a", "b", "c"] { _ = try await database.register(device, nine) }
            try await database.setClock("2026-11-22 08:59Z")
            _ = try await database.reminders.claimDue(limit: 10)
            _ = try await database.register("a", "2026-12-31T09:00:00Z")
            try await database.setClock("2026-12-22 08:59Z")
            #expect(try await database.deleteOld(retention: 30 * 86_400) == 0)
            try await database.setClock("2026-12-22 10:00:01Z")
            var taken: [Int] = []
            repeat {
                taken.append(try await database.deleteOld(retention: 30 * 86_400, limit: 2))
            } while taken.last != 0
            #expect(taken.reduce(0, +) == 3)
            #expect(try await database.count("schedule.task") == 1)
            #expect(try await database.count("schedule.due") == 1)
            #expect(try await database.count("reminders.claim") + database.count("reminders.reminder") == 0)
        }
    }

    private func expectNoTrace(_ database: ScheduleDatabase) async throws {
        for table in [
            "schedule.task", "reminders.claimed_reminder", "core.address", "schedule.due", "reminders.reminder",
        ] {
            let rows = try await database.run(
                "SELECT count(*) AS n FROM \(table) AS t WHERE t::text LIKE '%Secret%' OR t::text ~ '[(,]a[,)]'"
            )
            #expect(try rows[0].integer("n") == 0, "\(table)")
        }
    }
}
