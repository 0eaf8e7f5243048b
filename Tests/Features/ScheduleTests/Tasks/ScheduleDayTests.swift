import ScheduleTestSupport
import Testing

@testable import Schedule

@Suite struct ScheduleDayTests {
    private static let sessions = (8...23).map { $0 < 10 ? "0\($0):00" : "\($0):00" }

    @Test("A day has the sixteen sessions in order, with waiting users")
    func sessions() async throws {
        try await ScheduleDatabase.with(now: "2026-11-21 12:00Z") { database in
            _ = try await database.register("a", "2026-11-22T09:00:00Z", "History")
            let partner = try await database.register("b", "2026-11-22T09:00:00Z", "Maths")
            let waiting = try await database.register("a", "2026-11-22T10:00:00Z", "Alone")
            _ = try await database.register("b", "2026-11-22T11:00:00Z", "Open")
            let day = try await database.day("a", "2026-11-22T00:00:00Z")
            #expect(day.slots.map(\.key) == Self.sessions)
            let nine = try #require(day.slot("09:00"))
            #expect(nine.hasOwnTask && nine.hasSomebodyElse && nine.title == "History" && nine.partnerTask == "Maths")
            #expect(nine.roomId == partner.task?.socketId)
            let ten = try #require(day.slot("10:00"))
            #expect(ten.hasOwnTask && !ten.hasSomebodyElse && ten.partnerTask == nil)
            #expect(ten.id == waiting.task?.id && ten.roomId == waiting.task?.socketId)
            let eleven = try #require(day.slot("11:00"))
            #expect(!eleven.hasOwnTask && eleven.hasSomebodyElse && eleven.title == "" && eleven.roomId == nil)
            #expect(day.slot("12:00")?.hasSomebodyElse == false)
            // A third user sees neither the match nor its titles.
            let third = try await database.day("c", "2026-11-22T00:00:00Z")
            #expect(third.slots.filter(\.hasSomebodyElse).map(\.key) == ["10:00", "11:00"])
            #expect(third.slots.allSatisfy { $0.title.isEmpty && $0.partnerTask == nil && $0.roomId == nil })
            // After its reminder a task no longer counts as waiting.
            try await database.setClock("2026-11-22 10:59:00.1Z")
            #expect(try await database.day("c", "2026-11-22").slots.allSatisfy { !$0.hasSomebodyElse })
        }
    }

    @Test("A day without a zone uses the latest task's zone")
    func zones() async throws {
        try await ScheduleDatabase.with(now: "2025-03-01 00:00Z") { database in
            // Nine o'clock in Vancouver, on the day on which its clocks skip half past two.
            let own = try await database.register("a", day: "2025-03-09", time: "09:00", zone: "America/Vancouver")
            #expect(own.isCreated)
            let midnight = "2025-03-09T08:00:00Z"
            #expect(try await database.day("a", midnight, zone: "America/Vancouver").slot("09:00")?.hasOwnTask == true)
            #expect(try await database.day("a", midnight).slot("09:00")?.hasOwnTask == true)
            #expect(try await database.day("a", "2025-03-09").slot("09:00")?.hasOwnTask == true)
            // This instant is an hour before midnight in Vancouver. Hours are counted from the date.
            #expect(try await database.day("a", "2025-03-09T07:00:00Z").slot("09:00")?.hasOwnTask == true)
            // A device without a task has no zone. Its day is the sixteen hours from eight o'clock.
            let stranger = try await database.day("b", midnight)
            #expect(stranger.slot("08:00")?.hasSomebodyElse == true)
            #expect(stranger.slot("09:00")?.hasSomebodyElse == false)
            // The zone is that of the latest task, now London.
            _ = try await database.register("a", day: "2025-03-08", time: "09:00", zone: "Europe/London")
            #expect(try await database.day("a", midnight).slot("08:00")?.hasOwnTask == true)
            #expect(try await database.day("a", midnight, zone: "Asia/Tokyo") == .refused(.farFromMidnight))
        }
    }

    @Test("With everything, a day has all tasks and slots in order of time")
    func everything() async throws {
        try await ScheduleDatabase.with(now: "2025-10-01 00:00Z") { database in
            // The second of the repeated half past one in London, and the first.
            _ = try await database.register("a", "2025-10-26T01:30:00Z")
            _ = try await database.register("a", "2025-10-26T00:30:00Z")
            _ = try await database.register("b", "2025-10-26T10:00:05Z")
            _ = try await database.register("b", "2025-10-26T10:00:00Z")
            // Tasks on the days before and after aren't listed.
            _ = try await database.register("a", "2025-10-25T22:59:59Z")
            _ = try await database.register("b", "2025-10-27T00:00:00Z")
            let day = try await database.day("a", "2025-10-26", zone: "Europe/London", everything: true)
            var keys = ["01:30", "01:30+1"] + Self.sessions
            keys.insert("10:00:05", at: try #require(keys.firstIndex(of: "11:00")))
            #expect(day.slots.map(\.key) == keys)
            #expect(day.slot("10:00:05")?.hasSomebodyElse == true)
            #expect(day.slot("01:30+1")?.hasOwnTask == true)
            // Apart from the own tasks, the app gets only the sessions.
            #expect(try await database.day("a", "2025-10-26", zone: "Europe/London").slots.map(\.key) == Self.sessions)
        }
    }

    @Test("A day that the zone skips has empty sessions")
    func skippedDay() async throws {
        try await ScheduleDatabase.with(now: "2011-12-29 00:00Z") { database in
            _ = try await database.register("b", day: "2011-12-31", time: "09:00", zone: "Pacific/Apia")
            let day = try await database.day("a", "2011-12-30", zone: "Pacific/Apia", everything: true)
            #expect(day.slots.map(\.key) == Self.sessions)
            #expect(day.slots.allSatisfy { !$0.hasSomebodyElse })
            let before = try await database.day("a", "2011-12-29", zone: "Pacific/Apia", everything: true)
            #expect(before.slots.allSatisfy { !$0.hasSomebodyElse })
            #expect(
                try await database.day("a", "2011-12-30T10:00:00Z", zone: "Pacific/Apia").slot("09:00")?.hasSomebodyElse
                    == true)
        }
    }
}
