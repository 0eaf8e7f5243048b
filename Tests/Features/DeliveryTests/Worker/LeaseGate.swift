import Postgres
import ScheduleTestSupport
import TestSupport

/// Holds leases in the air: the database takes rows for a worker, which doesn't hear of it until the gate is opened.
struct LeaseGate {
    /// No advisory lock of the product has such a key.
    private static let key = 4712

    private let session: PostgresSession

    /// Closes it: from now on whatever changes deliveries waits, or what changes one that isn't urgent.
    static func close(in database: ScheduleDatabase, forOthersAlone: Bool = false) async throws -> LeaseGate {
        let session = try await PostgresSession.connect(database.configuration)
        try await session.execute("SELECT pg_advisory_lock(\(key))")
        try await database.run(
            """
            CREATE FUNCTION letsswitch.test_gate() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_advisory_xact_lock_shared(\(key)); RETURN NULL; END $$
            """)
        try await database.run(
            """
            CREATE TRIGGER test_gate AFTER UPDATE ON letsswitch.delivery
            FOR EACH \(forOthersAlone ? "ROW WHEN (NOT NEW.urgent)" : "STATEMENT") EXECUTE FUNCTION letsswitch.test_gate()
            """)
        return LeaseGate(session: session)
    }

    /// Whether something waits in it.
    func isBusy() async throws -> Bool {
        // Not through the pool, where it might stand behind what waits.
        let rows = try await session.execute(
            """
            SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND objid = \(Self.key) AND NOT granted
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """)
        return try rows?[0].integer("n") ?? 0 > 0
    }

    /// Lets pass what waits, and all that comes later.
    func open() async throws {
        try await session.execute("SELECT pg_advisory_unlock(\(Self.key))")
        await session.close()
    }
}
