import JourneyTestSupport
import Postgres
import TestSupport

/// Stops a daemon's statement at a chosen moment: a trigger waits for a lock that the test holds.
struct StatementGate {
    enum Moment {
        /// A claim has written everything, and is about to commit.
        case claim
        /// A reminder was sent, and its acknowledgement is about to be written.
        case acknowledgement
    }

    /// The product has no advisory lock with this key.
    private static let key = 4711

    private let journey: Journey
    /// The session that holds the lock.
    private let session: PostgresSession

    /// Closes the gate: from now on such statements wait.
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
                CREATE CONSTRAINT TRIGGER test_gate AFTER INSERT ON reminders.claim DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION letsswitch.test_gate()
                """)
        case .acknowledgement:
            try await journey.sql(
                """
                CREATE TRIGGER test_gate AFTER UPDATE ON reminders.reminder
                FOR EACH STATEMENT EXECUTE FUNCTION letsswitch.test_gate()
                """)
        }
        return StatementGate(journey: journey, session: session)
    }

    /// Returns when `count` statements wait at the gate.
    func waitForStatements(_ count: Int = 1) async throws {
        try await journey.wait(until: "(SELECT count(*) FROM (\(Self.waiting)) AS waiting) >= \(count)")
    }

    /// Opens the gate for all waiting and later statements.
    func open() async throws {
        try await session.execute("SELECT pg_advisory_unlock(\(Self.key))")
        await session.close()
    }

    /// Ends the waiting statements, which are rolled back. Then opens the gate for later ones.
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
