import Basics
import Domain
import Features
import FoundationEssentials
import Postgres
import Reminders
import Rooms
import ScheduleTestSupport
import Testing

@testable import Matches
@testable import Schedule

/// The history of tasks, for their users.
@Suite struct HistoryTests {
    private static func entry(_ outcome: History.Outcome?) -> History.Entry {
        History.Entry(
            id: UUID(), title: "History", startTime: "09:00", timeZone: "UTC", startsAt: Instant(seconds: 0),
            startedAt: nil, outcome: outcome, wasDissolved: outcome == .dissolved)
    }

    @Test("Only a missed task ends a streak, not one that the partner broke")
    func streak() {
        let outcomes: [([History.Outcome?], Int)] = [
            ([], 0), ([.missed, .kept], 0), ([nil, .kept, .dissolved, .kept, .missed, .kept], 2), ([.kept, .kept], 2),
        ]
        for (outcomes, streak) in outcomes { #expect(History(entries: outcomes.map(Self.entry)).streak == streak) }
    }

    @Test("A task is kept if its start was reported or the user came")
    func outcomes() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            var tasks: [String: TaskResponse] = [:]
            for device in ["ada", "bob", "cem", "dan", "eva"] {
                tasks[device] = try await database.register(device, "2026-11-22T09:00:00Z").task
            }
            // Eva is alone; cem and dan are a match, ada and bob another.
            let store = HistoryStore(database: database.client)
            func own(_ device: String) throws -> OwnTask {
                OwnTask(id: try #require(tasks[device]).id, device: DeviceID(stored: device))
            }
            func history(_ device: String) async throws -> History {
                try await store.history(of: DeviceID(stored: device))
            }
            await #expect(throws: RequestError.self) { try await store.markStarted(own("eva")) }
            #expect(try await history("ada").entries.isEmpty)
            try await database.setClock("2026-11-22 08:59:01Z")
            _ = try await database.reminders.claimDue(limit: 10)
            let room = try #require(tasks["ada"]).socketId
            try await AttendanceStore(database: database.client).report(
                [PresenceEvent(.joined, room: room, claimedIdentity: own("ada").id, peers: 1, at: .now())],
                by: UUID(), number: 1, at: .now())
            try await database.setClock("2026-11-22 09:00:10Z")
            let first = try await store.markStarted(own("eva"))
            #expect(first.id == tasks["eva"]?.id)
            _ = try await database.leave("cem", own("cem").id)
            #expect(try await history("ada").entries.map(\.outcome) == [.kept])
            #expect(try await history("bob").entries.map(\.outcome) == [nil])
            try await database.setClock("2026-11-22 10:00:10Z")
            _ = try await store.markStarted(own("eva"))
            let expected: [(String, History.Outcome, Bool)] = [
                ("ada", .kept, true), ("bob", .missed, false), ("dan", .dissolved, true), ("eva", .kept, false),
            ]
            for (device, outcome, wasDissolved) in expected {
                let entries = try await history(device).entries
                #expect(entries.map(\.outcome) == [outcome], "\(device)")
                #expect(entries.map(\.wasDissolved) == [wasDissolved], "\(device)")
            }
            #expect(try await history("eva").entries.first?.startedAt?.description == "2026-11-22T09:00:10Z")
            #expect(try await history("cem").entries.isEmpty)
            #expect(try await history("bob").entries.map(\.partnerTask) == ["History"])
            #expect(try await history("dan").entries.map(\.partnerTask) == [nil])
            _ = try await database.erasures.erase(DeviceID(stored: "ada"))
            #expect(try await history("ada").entries.isEmpty)
            #expect(try await history("bob").entries.map(\.partnerTask) == [nil])
            await #expect(throws: RequestError.self) { try await store.markStarted(own("ada")) }
        }
    }

    @Test(
        "An erased partner counts as absent only if the partner had left",
        arguments: ["2026-11-22 09:30Z", "2026-11-22 10:00:10Z"])
    func forgottenPartner(_ moment: String) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            var tasks: [String: TaskResponse] = [:]
            for device in ["ada", "bob", "cem", "dan"] {
                tasks[device] = try await database.register(device, "2026-11-22T09:00:00Z").task
            }
            try await database.setClock("2026-11-22 08:59:10Z")
            _ = try await database.reminders.claimDue(limit: 10)
            let peers = RoomReports(database)
            for device in ["ada", "bob", "dan"] {
                let task = try #require(tasks[device])
                try await peers.come(task.socketId, task.id)
            }
            try await database.setClock("2026-11-22 09:00:10Z")
            _ = try await database.leave("cem", try #require(tasks["cem"]).id)
            try await database.setClock(moment)
            for device in ["bob", "cem"] { _ = try await database.erasures.erase(DeviceID(stored: device)) }
            try await database.setClock("2026-11-22 10:00:10Z")
            let store = HistoryStore(database: database.client)
            for (device, wasDissolved) in [("ada", false), ("dan", true)] {
                let entry = try #require(try await store.history(of: DeviceID(stored: device)).entries.first)
                #expect(entry.outcome == .kept && entry.wasDissolved == wasDissolved, "\(device)")
            }
        }
    }

    @Test("A moved task must be started again")
    func moved() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let task = try #require(try await database.register("ada", "2026-11-22T09:00:00Z").task)
            let own = OwnTask(id: task.id, device: task.device)
            let store = HistoryStore(database: database.client)
            try await database.setClock("2026-11-22 09:00:10Z")
            _ = try await store.markStarted(own)
            let ten = try #require(Instant("2026-11-22T10:00:00Z"))
            _ = try await PartnerStore(database: database.client, settings: ScheduleSettings()).move(
                MoveRequest(task: own, slot: .at(ten)))
            await #expect(throws: RequestError.self) { try await store.markStarted(own) }
            try await database.setClock("2026-11-22 11:00:10Z")
            let entry = try #require(try await store.history(of: task.device).entries.first)
            #expect(entry.startedAt == nil && entry.outcome == .missed)
        }
    }
}
