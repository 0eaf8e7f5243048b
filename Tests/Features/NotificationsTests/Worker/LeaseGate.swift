import Postgres
import ScheduleTestSupport
import TestSupport

/// Delays leases: the database changes the rows for a worker, but the worker gets no answer until the gate is opened.
struct LeaseGate {
    /// The product has no advisory lock with this key.
    private static let key = 4712

    private let session: PostgresSession

    /// Closes the gate. From now on, statements that change deliveries wait.
    ///
    /// - Parameter forOthersAlone: Only statements that change a delivery that isn't urgent wait.
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
            CREATE TRIGGER test_gate AFTER UPDATE ON core.delivery
            FOR EACH \(forOthersAlone ? "ROW WHEN (NOT NEW.urgent)" : "STATEMENT") EXECUTE FUNCTION letsswitch.test_gate()
            """)
        return LeaseGate(session: session)
    }

    /// Whether a statement waits at the gate.
    func isBusy() async throws -> Bool {
        // The pool isn't used, because this query could wait there behind the blocked statements.
        let rows = try await session.execute(
            """
            SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND objid = \(Self.key) AND NOT granted
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            """)
        return try rows?[0].integer("n") ?? 0 > 0
    }

    /// Opens the gate for all waiting and later statements.
    func open() async throws {
        try await session.execute("SELECT pg_advisory_unlock(\(Self.key))")
        await session.close()
    }
}
