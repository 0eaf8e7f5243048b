import Domain
import FoundationEssentials
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Schedule

/// Accepting an invitation at the same time as another action that locks the slot. Each of the two comes first once.
@Suite struct InvitationRaceTests {
    private static let nine = "2026-11-22T09:00:00Z"

    /// An action of the host, the guest or a daemon at the same moment.
    enum Other: String, CaseIterable, CustomTestStringConvertible {
        case hostMoves, hostLeaves, hostRetitles, hostIsFreed, guestMoves, guestLeaves, guestRepeatsWeekly

        var testDescription: String { rawValue }

        func statement(host: UUID, guest: UUID?) -> String {
            let ten = "NULL, 1795341600, NULL, NULL, NULL, 60, 7776000, 3600, 300"
            return switch self {
            case .hostMoves: "SELECT schedule.move_task('ada', '\(host)', \(ten))"
            case .hostLeaves: "SELECT schedule.leave_task('ada', '\(host)', 300)"
            case .hostRetitles:
                "SELECT schedule.register_task('ada', 'Logic', 'UTC', 1795338000, NULL, NULL, NULL, 60, 7776000, 3600)"
            case .hostIsFreed: "SELECT schedule.end_invitation('\(host)')"
            case .guestMoves: "SELECT schedule.move_task('eva', '\(guest ?? host)', \(ten))"
            case .guestLeaves: "SELECT schedule.leave_task('eva', '\(guest ?? host)', 300)"
            case .guestRepeatsWeekly:
                """
                SELECT schedule.begin_series(
                    gen_random_uuid(), 'eva', 'Art', 32400, 'UTC', 127, NULL, 2, 60, 7776000, 3600, 200, 20)
                """
            }
        }

        /// Whether the action is about a task that the guest already had.
        var hasOwnPromise: Bool { self == .guestMoves || self == .guestLeaves }
    }

    /// Runs `second` while `first` holds the slot's lock. Repeats `second` after a conflict, as the daemon does.
    private static func race(
        _ first: String, _ second: String, on database: ScheduleDatabase
    ) async throws {
        let holder = try await PostgresSession.connect(database.configuration)
        let other = try await PostgresSession.connect(database.configuration)
        try await holder.execute("BEGIN; \(first)")
        let waiting = Task { _ = try await other.execute(second) }
        try await database.waits(1)
        try await holder.execute("COMMIT")
        do {
            try await waiting.value
        } catch let error as PostgresError where error.kind == .conflict(sqlState: "40001") {
            try await other.execute(second)
        }
        await holder.close()
        await other.close()
    }

    /// Registers a host with an invitation that has lapsed, another user who waits in the slot, and a guest, who may
    /// have a task there too.
    private static func begin(
        _ way: Other, _ database: ScheduleDatabase
    ) async throws -> (accept: String, other: String, host: UUID, token: InvitationToken) {
        let host = try #require(try await database.invite("ada", nine).task)
        let token = try #require(host.invitation)
        let own = way.hasOwnPromise ? try await database.register("eva", nine, "Art").task : nil
        if way == .hostIsFreed { _ = try await database.register("bob", nine, "Maths") }
        try await database.setClock("2026-11-22 08:54:00Z")
        return (
            "SELECT schedule.accept_invitation('eva', '\(token.text)', 'Art', NULL, 60, 7776000, 3600, 200)",
            way.statement(host: host.id, guest: own?.id), host.id, token
        )
    }

    @Test("The second of two concurrent changes sees the result of the first", arguments: Other.allCases)
    func second(_ way: Other) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z", connections: 6) { database in
            let (accept, other, host, token) = try await Self.begin(way, database)
            try await Self.race(other, accept, on: database)
            let repeated = try await database.accept("eva", token, "Art")
            switch way {
            case .hostMoves:
                #expect(
                    repeated.task?.startsAt.description == "2026-11-22T10:00:00Z" && repeated.task?.isPaired == true)
            case .hostLeaves: #expect(repeated.refusal?.code == "no_such_invitation")
            case .hostIsFreed: #expect(repeated.refusal?.code == "invitation_used")
            case .hostRetitles: #expect(repeated.task?.partnerTitle == "Logic")
            case .guestMoves, .guestLeaves, .guestRepeatsWeekly:
                #expect(repeated.task?.isPaired == true && repeated.task?.startsAt.description == Self.nine)
                #expect(try await database.count("schedule.task WHERE id = '\(host)' AND partner_id IS NOT NULL") == 1)
            }
            try await database.checkPairs()
        }
    }

    @Test("A guest who accepted first is treated like any partner", arguments: Other.allCases)
    func first(_ way: Other) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z", connections: 6) { database in
            let (accept, other, host, _) = try await Self.begin(way, database)
            try await Self.race(accept, other, on: database)
            let isPaired =
                try await database.count("schedule.task WHERE id = '\(host)' AND partner_id IS NOT NULL") == 1
            switch way {
            case .hostMoves, .hostLeaves, .guestMoves, .guestLeaves: #expect(!isPaired)
            case .hostRetitles, .hostIsFreed, .guestRepeatsWeekly: #expect(isPaired)
            }
            // A series skips a day with an existing task.
            #expect(
                try await database.count("schedule.task WHERE device_id = 'eva' AND starts_at = '\(Self.nine)'")
                    == (way.hasOwnPromise ? 0 : 1))
            try await database.checkPairs()
        }
    }

    @Test("A task of a series can have an invitation, whose link stays valid")
    func series() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 12:00Z") { database in
            let store = database.series()
            let begun = try await store.begin(try ScheduleDatabase.series("ada")).series
            let start = "2026-11-24T09:00:00Z"
            let token = try #require(try await database.invite("ada", start).task?.invitation)
            _ = try await store.rename(SeriesRenaming(series: begun.own, title: "Art", from: nil))
            #expect(try await database.invitations.read(token).title == "Art")
            #expect(try await database.register("bob", start).task?.isPaired == false)
            // Simulates that the zone's rules moved its clocks forward by an hour.
            try await database.run(
                "UPDATE schedule.series SET time_zone = 'Europe/Paris', next_check_at = core.clock()")
            while try await store.extendNext() != nil {}
            #expect(try await database.invitations.read(token).startsAt.description == "2026-11-24T08:00:00Z")
            #expect(try await database.register("cem", "2026-11-24T08:00:00Z").task?.isPaired == false)
            _ = try await store.end(begun.own)
            #expect(try await database.accept("eva", token).refusal?.code == "no_such_invitation")
            #expect(try await database.count("schedule.task WHERE device_id = 'ada'") == 0)
            try await database.checkPairs()
        }
    }

    @Test("Without a hold a task waits for its guest until the lead, and is then matched")
    func withoutHold() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            var settings = ScheduleSettings()
            settings.invitationHold = .zero
            let schedule = ScheduleStore(database: database.client, settings: settings)
            let slot = try ScheduleDatabase.request("ada", Self.nine, "History", zone: "UTC").slot
            let host = try #require(
                try await schedule.register(TaskRequest(slot: slot, title: "History", invites: true)).task)
            _ = try await database.register("bob", Self.nine, "Maths")
            try await database.setClock("2026-11-22 08:58:59Z")
            #expect(try await database.invitations.lapsed().isEmpty)
            try await database.setClock("2026-11-22 08:59:01Z")
            #expect(try await database.invitations.lapsed() == [host.id])
            #expect(try await database.invitations.free(host.id))
            try await database.checkMatches()
        }
    }
}
