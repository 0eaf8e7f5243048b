import Basics
import Domain
import Features
import FoundationEssentials
import Postgres
import Rooms
import ScheduleTestSupport
import Testing

@testable import Matches
@testable import Schedule

/// Connections in a room that gave the task of an erased user.
@Suite struct ErasedPresenceTests {
    /// Runs the body after Ada was erased while she was in her open room with Bob.
    private static func withErased(
        _ body: (ScheduleDatabase, AttendanceStore, TaskResponse, _ daemon: UUID) async throws -> Void
    ) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let (ada, bob) = try await database.remindedPair("ada", "bob")
            let (store, daemon) = (AttendanceStore(database: database.client), UUID())
            try await database.run(
                "SELECT operations.beat('\(daemon)', 'h', '1', 1, 'none', '{}', '{}', false, NULL, 0, 0)")
            try await store.report(
                [event(.joined, ada), event(.joined, bob)], by: daemon, number: 1, at: .now())
            _ = try await database.erasures.erase(DeviceID(stored: "ada"))
            try await body(database, store, ada, daemon)
        }
    }

    private static func event(_ kind: PresenceEvent.Kind, _ task: TaskResponse) -> PresenceEvent {
        PresenceEvent(kind, room: task.socketId, claimedIdentity: task.id, peers: 1, at: .now())
    }

    /// The number of connections of each device that is present.
    private static func attendance(_ database: ScheduleDatabase) async throws -> [String] {
        try await database.run(
            """
            SELECT coalesce(task.device_id, 'nobody') || ' ' || attendance.present AS text
            FROM core.attendance LEFT JOIN schedule.task ON task.id = attendance.task_id ORDER BY 1
            """
        ).map { try $0.string("text") }
    }

    @Test("An erased user leaves the room without a trace")
    func noTrace() async throws {
        try await Self.withErased { database, store, ada, daemon in
            for (number, kind) in [(2, PresenceEvent.Kind.left), (3, .joined)] {
                try await store.report([Self.event(kind, ada)], by: daemon, number: number, at: .now())
                #expect(try await Self.attendance(database) == ["bob 1"], "\(kind)")
            }
            let present = Attendee(room: ada.socketId, claimedIdentity: ada.id)
            try await store.recount([[(attendee: present, connections: 1)]], by: daemon, number: 3)
            #expect(try await Self.attendance(database) == ["bob 1"])
            #expect(try await database.count("core.presence") == 1)
        }
    }

    @Test("An entry stored during an erasure counts as a departure")
    func writtenMeanwhile() async throws {
        try await Self.withErased { database, store, ada, daemon in
            try await database.run(
                """
                INSERT INTO core.attendance
                    (room_id, task_id, closes_at, joined_at, changed_at, present, visits, most_peers)
                SELECT room_id, '\(ada.id)', closes_at, joined_at, changed_at, 1, 1, 1 FROM core.attendance
                """)
            try await database.run(
                """
                INSERT INTO core.presence (reporter_id, room_id, task_id, connections)
                VALUES ('\(daemon)', '\(ada.socketId)', '\(ada.id)', 1)
                """)
            try await store.report([Self.event(.left, ada)], by: daemon, number: 2, at: .now())
            #expect(try await Self.attendance(database) == ["bob 1", "nobody 0"])
            #expect(try await database.count("core.presence") == 1)
        }
    }
}
