import JourneyTestSupport
import Postgres
import TestSupport

/// Stops a statement of a daemon's at a moment that a test wants, by a trigger that waits for a lock which the test holds.
struct StatementGate {
    enum Moment {
        /// A claim has written everything, and is about to commit.
        case claim
        /// A reminder was sent; that it was is about to be written.
        case acknowledgement
    }

    /// No advisory lock of the product has such a key.
    private static let key = 4711

    private let journey: Journey
    /// Holds the lock.
    private let session: PostgresSession

    /// Closes the gate: from now on such statements wait in it.
    static func close(at moment: Moment, in journey: Journey) async throws -> StatementGate {
        let session = try await PostgresSession.connect(PostgresConfiguration(conninfo: journey.conninfo))
        try await session.execute("SELECT pg_advisory_lock(\(key))")
        try await journey.sql(
            """
            CREATE FUNCTION letsswitch.test_gate() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_advisory_xact_lock_shared(\(key)); RETURN NULL; END $$
            """)
        switch moment {
        case .claim:
            try await journey.sql(
                """
                CREATE CONSTRAINT TRIGGER test_gate AFTER INSERT ON letsswitch.claim DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION letsswitch.test_gate()
                """)
        case .acknowledgement:
            try await journey.sql(
                """
                CREATE TRIGGER test_gate AFTER UPDATE ON letsswitch.reminder
                FOR EACH STATEMENT EXECUTE FUNCTION letsswitch.test_gate()
                """)
        }
        return StatementGate(journey: journey, session: session)
    }

    /// Returns when `count` statements wait in the gate.
    func waitForStatements(_ count: Int = 1) async throws {
        try await journey.wait(until: "(SELECT count(*) FROM (\(Self.waiting)) AS waiting) >= \(count)")
    }

    /// Lets them pass, and all that come later.
    func open() async throws {
        try await session.execute("SELECT pg_advisory_unlock(\(Self.key))")
        await session.close()
    }

    /// Ends the statements that wait: they are rolled back. Then lets pass what comes later.
    func rollBack() async throws {
        try await journey.sql("SELECT pg_terminate_backend(pid) FROM (\(Self.waiting)) AS waiting")
        try await journey.wait(until: "(SELECT count(*) FROM (\(Self.waiting)) AS waiting) = 0")
        try await open()
    }

    private static let waiting = """
        SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = \(key) AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """
}
