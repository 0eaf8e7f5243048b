import Basics
import Foundation
import JourneyTestSupport
import Observability
import Postgres
import Rooms
import Settings
import TestSupport
import Testing

@testable import LetsSwitch
@testable import Matches

/// The rows that a daemon which stops leaves in the database.
@Suite struct StoppedDaemonTests {
    /// Takes locks until the session's transaction ends.
    private static func hold(_ lock: String, in journey: Journey) async throws -> PostgresSession {
        let session = try await PostgresSession.connect(PostgresConfiguration(conninfo: journey.conninfo))
        try await session.execute("BEGIN; \(lock)")
        return session
    }

    /// Lets a user listen on the only daemon, as far as the database knows.
    private static func listen(_ user: String, at endpoint: ClientEndpoint, in journey: Journey) async throws {
        #expect(try await endpoint.post("/users", ["deviceId": .string(user), "name": .string(user)]).status == 201)
        try await journey.sql(
            """
            INSERT INTO conversations.connected_user (user_id, daemon_id)
            SELECT chat_user.id, daemon.id FROM conversations.chat_user, core.daemon
            """)
        #expect(try await journey.count("conversations.connected_user") == 1)
    }

    @Test("A daemon that stops deletes its row after its departures are written")
    func lastReports() async throws {
        try await Journey.run { journey in
            // No statement that waits for the lock is given up before the test has failed.
            let (daemon, endpoint) = try await journey.daemonAndEndpoint {
                $0.drainTimeout = Deadline.standard * 1.1
                ($0.postgres.queryTimeout, $0.postgres.stallTimeout) = (.seconds(3_000), .seconds(3_000))
            }
            let start = try await journey.instant(in: 1_800)
            let ada = try await endpoint.register("ada", start)
            let room = try await endpoint.register("bob", start).socketId
            try await journey.advance(to: start, -30)
            try await eventually("the room to open") { try await endpoint.status(of: room) == 101 }
            let inside = try await WebSocketTestClient.connect(
                to: endpoint, "\(ClientEndpoint.room(room))&taskId=\(ada.id.uuidString)")
            let isThere = "core.attendance WHERE task_id = '\(ada.id)' AND present"
            try await journey.wait(until: "EXISTS (SELECT FROM \(isThere) = 1)")
            try await Self.listen("ada", at: endpoint, in: journey)

            let session = try await Self.hold("SELECT FROM core.attendance FOR UPDATE", in: journey)
            async let end: Void = daemon.stop()
            try await journey.wait(until: "NOT EXISTS (SELECT FROM conversations.connected_user)")
            #expect(try await journey.count("core.daemon") == 1)
            try await session.execute("COMMIT")
            await session.close()
            await end
            await inside.close()
            #expect(try await journey.count("\(isThere) = 0") == 1)
            #expect(try await journey.count("core.presence") == 0)
            #expect(try await journey.count("core.daemon") == 0)
        }
    }

    @Test("A daemon that stops deletes its row and its listeners, even if the first statements fail")
    func failures() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.daemonAndEndpoint { _ in }
            try await Self.listen("ada", at: endpoint, in: journey)
            let tables = [("connected_user", "conversations.connected_user"), ("daemon", "core.daemon")]
            for (name, table) in tables {
                // Out of memory, once. A sequence counts on when the statement is rolled back.
                try await journey.sql("CREATE SEQUENCE letsswitch.deletions_\(name)")
                try await journey.sql(
                    """
                    CREATE FUNCTION letsswitch.fail_\(name)() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                        IF nextval('letsswitch.deletions_\(name)') = 1 THEN
                            RAISE EXCEPTION USING ERRCODE = '53200', MESSAGE = 'out of memory';
                        END IF;
                        RETURN OLD;
                    END $$
                    """)
                try await journey.sql(
                    """
                    CREATE TRIGGER fail BEFORE DELETE ON \(table)
                    FOR EACH ROW EXECUTE FUNCTION letsswitch.fail_\(name)()
                    """)
            }
            await daemon.stop()
            for (name, table) in tables {
                #expect(try await journey.count(table) == 0)
                #expect(try await journey.count("letsswitch.deletions_\(name) WHERE last_value = 2") == 1)
            }
        }
    }

    @Test("A database that can't write departures delays a stopping daemon only by its limit")
    func stillDatabase() async throws {
        try await Journey.run { journey in
            let writer = AttendanceWriter(
                store: AttendanceStore(database: journey.client), by: UUID(), log: Log(level: .error, format: nil),
                written: {})
            let rooms = Rooms(loops: [], anyRoomIsOpen: true, aleFrame: { _ in [0x82, 0] }, report: { _ in })
            let session = try await Self.hold("LOCK TABLE core.reporter IN EXCLUSIVE MODE", in: journey)
            await writer.add([PresenceEvent(.left, room: UUID(), claimedIdentity: nil, peers: 0, at: .now())])
            let end = Task { await AttendanceService(rooms: rooms, writer: writer).stop(within: .milliseconds(200)) }
            #expect(await end.ends(within: Deadline.standard))
            // Locks the table, so that no statement on it is answered.
            let written = try await session.execute("SELECT FROM core.reporter")
            #expect(written?.isEmpty == true)
            try await session.execute("COMMIT")
            await session.close()
            await writer.finish()
            #expect(try await journey.count("core.reporter") == 1)
        }
    }
}
