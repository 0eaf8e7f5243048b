import Basics
import Domain
import FoundationEssentials
import Postgres
import Rooms
import Schedule
import ScheduleTestSupport
import Testing

@testable import Matches

/// The webhook's events of rooms whose users change.
@Suite struct RoomEventTests {
    private static let nine = "2026-11-22T09:00:00Z"

    @Test(
        "A room that is kept for an unnamed member opens and closes once"
    )
    func kept() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            try await database.run(
                "INSERT INTO core.provider (name, seen_at) VALUES ('webhook', core.clock())")
            let (_, bob) = try await database.remindedPair("ada", "bob")
            try await AttendanceStore(database: database.client).report(
                [PresenceEvent(.joined, room: bob.socketId, claimedIdentity: nil, peers: 1, at: .now())], by: UUID(),
                number: 1, at: .now())
            _ = try await database.leave("bob", bob.id)
            let cem = try #require(try await database.register("cem", Self.nine).task)
            #expect(cem.isPaired && cem.socketId == bob.socketId)
            let events = try await database.run(
                """
                SELECT type, task_ids @> ARRAY['\(cem.id)'::uuid] AS is_new FROM core.event
                WHERE type IN ('room.opened', 'room.closed') ORDER BY id
                """)
            #expect(try events.map { try $0.string("type") } == ["room.opened", "room.closed"])
            #expect(try events.map { try $0.boolean("is_new") } == [false, true])
        }
    }
}
