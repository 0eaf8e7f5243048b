import Basics
import Domain
import FoundationEssentials
import Observability
import Postgres
import Rooms
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Scheduling

/// Who is in rooms on a daemon that the others had given up, and that lives.
@Suite struct RecountTests {
    private static let nine = "2026-11-22T09:00:00Z"

    private static func event(
        _ kind: PresenceEvent.Kind, _ task: TaskResponse, _ identity: UUID?
    ) -> PresenceEvent {
        PresenceEvent(kind, room: task.socketId, claimedIdentity: identity, peers: 1, at: .now())
    }

    /// Who is there, by the name of the task, and how often each came.
    private static func attendance(_ database: ScheduleDatabase) async throws -> [String] {
        try await database.run(
            """
            SELECT coalesce(task.device_id, 'unnamed') || ' ' || attendance.present || ' ' || attendance.visits AS text
            FROM letsswitch.attendance LEFT JOIN letsswitch.task ON task.id = attendance.task_id ORDER BY 1
            """
        ).map { try $0.string("text") }
    }

    @Test("They are there again, once, and those who left meanwhile aren't; who leaves then leaves")
    func recount() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let ada = try #require(try await database.register("ada", Self.nine).task)
            let bob = try #require(try await database.register("bob", Self.nine).task)
            try await database.setClock("2026-11-22 08:59:10Z")
            _ = try await database.reminders.claimDue(limit: 10)
            let daemon = UUID()
            let writer = AttendanceWriter(
                store: AttendanceStore(database: database.client), by: daemon, log: Log(level: .error, format: nil)
            ) {}
            await writer.add([
                Self.event(.joined, ada, ada.id), Self.event(.joined, ada, ada.id), Self.event(.joined, bob, bob.id),
                Self.event(.joined, ada, nil),
            ])
            try await eventually("all are there") {
                try await Self.attendance(database) == ["ada 2 2", "bob 1 1", "unnamed 1 1"]
            }
            // Nobody is counted twice.
            await writer.forgotten()
            await writer.add([Self.event(.left, bob, bob.id)])
            try await eventually("one has left") {
                try await Self.attendance(database) == ["ada 2 2", "bob 0 1", "unnamed 1 1"]
            }
            try await database.run(
                "UPDATE letsswitch.reporter SET must_close = true, gone_at = letsswitch.clock() WHERE id = '\(daemon)'")
            while try await database.run("SELECT letsswitch.close_presence(1) AS more")[0].boolean("more") {}
            #expect(try await Self.attendance(database) == ["ada 0 2", "bob 0 1", "unnamed 0 1"])

            await writer.forgotten()
            try await eventually("they are there again") {
                try await Self.attendance(database) == ["ada 2 2", "bob 0 1", "unnamed 1 1"]
            }
            await writer.add([Self.event(.left, ada, ada.id), Self.event(.left, ada, nil)])
            try await eventually("who leaves leaves") {
                try await Self.attendance(database) == ["ada 1 2", "bob 0 1", "unnamed 0 1"]
            }
            #expect(try await database.count("presence") == 1)
            await writer.finish()
        }
    }
}
