import Basics
import Foundation
import JourneyTestSupport
import Observability
import Postgres
import Rooms
import Scheduling
import Settings
import TestSupport
import Testing

@testable import LetsSwitch

/// What a stopping daemon leaves in the database.
@Suite struct FarewellTests {
    /// Takes locks, until the session's transaction is over.
    private static func hold(_ lock: String, in journey: Journey) async throws -> PostgresSession {
        let session = try await PostgresSession.connect(PostgresConfiguration(conninfo: journey.conninfo))
        try await session.execute("BEGIN; \(lock)")
        return session
    }

    @Test("A stopping daemon is known until its last leaves are written, and is then removed")
    func lastReports() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.daemonAndEndpoint { $0.drainTimeout = .seconds(120) }
            let start = try await journey.instant(in: 1_800)
            let ada = try await endpoint.register("ada", start)
            let room = try await endpoint.register("bob", start).socketId
            try await journey.advance(to: start, -30)
            try await eventually("the room to open") { try await endpoint.status(of: room) == 101 }
            let inside = try await WebSocketTestClient.connect(
                to: endpoint, "\(ClientEndpoint.room(room))&taskId=\(ada.id.uuidString)")
            let isThere = "letsswitch.attendance WHERE task_id = '\(ada.id)' AND present"
            try await journey.wait(until: "EXISTS (SELECT FROM \(isThere) = 1)")
            // The removal of its listeners is blocked during the shutdown.
            #expect(try await endpoint.post("/users", ["deviceId": "ada", "name": "ada"]).status == 201)
            try await journey.sql(
                """
                INSERT INTO letsswitch.listener (user_id, daemon_id)
                SELECT chat_user.id, daemon.id FROM letsswitch.chat_user, letsswitch.daemon
                """)

            let session = try await Self.hold("SELECT FROM letsswitch.attendance FOR UPDATE", in: journey)
            async let end: Void = daemon.stop()
            try await journey.wait(until: "NOT EXISTS (SELECT FROM letsswitch.listener)")
            #expect(try await journey.count("letsswitch.daemon") == 1)
            try await session.execute("COMMIT")
            await session.close()
            await end
            await inside.close()
            #expect(try await journey.count("\(isThere) = 0") == 1)
            #expect(try await journey.count("letsswitch.presence") == 0)
            #expect(try await journey.count("letsswitch.daemon") == 0)
        }
    }

    @Test("A database that can't write leaves delays a stopping daemon by its time limit only")
    func stillDatabase() async throws {
        try await Journey.run { journey in
            let writer = AttendanceWriter(
                store: AttendanceStore(database: journey.client), by: UUID(), log: Log(level: .error, format: nil),
                written: {})
            let rooms = Rooms(loops: [], anyRoomIsOpen: true, aleFrame: { _ in [0x82, 0] }, report: { _ in })
            let session = try await Self.hold("LOCK TABLE letsswitch.reporter IN EXCLUSIVE MODE", in: journey)
            await writer.add([PresenceEvent(.left, room: UUID(), claimedIdentity: nil, peers: 0, at: .now())])
            let end = Task { await AttendanceService(rooms: rooms, writer: writer).stop(within: .milliseconds(200)) }
            #expect(await end.ends(within: Deadline.standard))
            // Locks the table, so that no statement on it is answered.
            let written = try await session.execute("SELECT FROM letsswitch.reporter")
            #expect(written?.isEmpty == true)
            try await session.execute("COMMIT")
            await session.close()
            await writer.finish()
            #expect(try await journey.count("letsswitch.reporter") == 1)
        }
    }
}
