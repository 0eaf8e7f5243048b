import Domain
import FoundationEssentials
package import Postgres
import TestSupport

/// Clients of one database with one connection each, so that their statements run at the same time.
package struct ConcurrentClients {
    private static let size = 6
    /// The key of the advisory lock at which inserts wait.
    private static let gate = 4711

    private let database: ScheduleDatabase
    private let clients: [PostgresClient]
    /// The client that closes the gate. No other statement uses it, so none waits behind it.
    private let gateClient: PostgresClient

    /// Runs `body` with clients that don't repeat statements after a conflict.
    package static func with(_ database: ScheduleDatabase, _ body: (ConcurrentClients) async throws -> Void)
        async throws
    {
        var configuration = database.configuration
        configuration.maxConnections = 1
        configuration.maxRetries = 0
        let concurrent = ConcurrentClients(
            database: database, clients: (0..<size).map { _ in PostgresClient(configuration: configuration) },
            gateClient: PostgresClient(configuration: configuration))
        do {
            try await body(concurrent)
        } catch {
            await concurrent.end()
            throw error
        }
        await concurrent.end()
    }

    private func end() async {
        for client in clients + [gateClient] { await client.shutdown() }
    }

    /// Calls `act` at the same time with each number below `count` and a client for it. Returns how often it returned
    /// `true` (new), `false` (known), and threw each code.
    package func count(
        _ count: Int, _ act: @escaping @Sendable (Int, PostgresClient) async throws -> Bool
    ) async throws -> [String: Int] {
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<count {
                let client = clients[number % clients.count]
                group.addTask {
                    do {
                        return try await act(number, client) ? "new" : "known"
                    } catch let error as RequestError {
                        return error.code
                    }
                }
            }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    /// Runs `body` while every insert into a table waits, until a statement of each client waits for a lock. Without a
    /// lock that prevents it, all statements have made their checks before the first row exists.
    package func holdingInserts(into table: String, _ body: @Sendable () async throws -> Void) async throws {
        try await database.run(
            """
            CREATE OR REPLACE FUNCTION letsswitch.wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                PERFORM pg_advisory_xact_lock_shared(\(Self.gate));
                RETURN NEW;
            END
            $$
            """)
        try await database.run(
            """
            CREATE TRIGGER gate BEFORE INSERT ON \(table)
            FOR EACH ROW EXECUTE FUNCTION letsswitch.wait_at_gate()
            """)
        let close = """
            DO $$
            BEGIN
                PERFORM pg_advisory_xact_lock(\(Self.gate));
                LOOP
                    PERFORM pg_stat_clear_snapshot();
                    EXIT WHEN \(clients.count) <= (
                        SELECT count(*) FROM pg_stat_activity
                        WHERE datname = current_database() AND wait_event_type = 'Lock');
                    PERFORM pg_sleep(0.002);
                END LOOP;
            END
            $$
            """
        async let holder = gateClient.query(PostgresStatement(name: "", sql: close))
        try await eventually("the gate is closed") {
            try await database.run(
                "SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = \(Self.gate) AND granted"
            ).count == 1
        }
        try await body()
        _ = try await holder
    }
}
