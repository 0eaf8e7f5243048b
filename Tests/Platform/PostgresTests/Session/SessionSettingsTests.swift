import TestSupport
import Testing

@testable import Postgres

/// Sessions of a role and database whose settings differ from the server's defaults.
@Suite struct SessionSettingsTests {
    /// Settings with a hostile value, and the value that a session has nevertheless.
    private static let settings: [(name: String, hostile: String, expected: String)] = [
        ("extra_float_digits", "-10", "1"), ("TimeZone", "Asia/Kathmandu", "UTC"),
        ("DateStyle", "German, DMY", "ISO, MDY"), ("IntervalStyle", "sql_standard", "postgres"),
        ("bytea_output", "escape", "hex"), ("client_encoding", "LATIN1", "UTF8"),
        ("search_path", "elsewhere, pg_catalog", "public"), ("standard_conforming_strings", "off", "on"),
        ("array_nulls", "off", "on"), ("transform_null_equals", "on", "off"),
        ("timezone_abbreviations", "India", "Default"), ("row_security", "off", "on"), ("exit_on_error", "on", "off"),
        ("default_transaction_isolation", "serializable", "read committed"),
        ("default_transaction_deferrable", "on", "off"), ("session_replication_role", "replica", "origin"),
        ("plpgsql.variable_conflict", "use_column", "error"), ("lock_timeout", "1s", "0"),
        ("statement_timeout", "1s", "2min"), ("idle_in_transaction_session_timeout", "1s", "0"),
        ("idle_session_timeout", "1s", "0"), ("transaction_timeout", "1s", "0"),
    ]

    /// Applies all hostile values that the server's release has. Returns their names.
    private static func harm(_ conninfo: String, _ role: String) async throws -> Set<String> {
        var names: Set<String> = []
        // One session for all: a further one could be ended by a time-out that is set already.
        let session = try await PostgresSession.connect(PostgresConfiguration(conninfo: conninfo))
        for (name, hostile, _) in settings {
            let change = "SET \(name) = \(name == "search_path" ? hostile : "'\(hostile)'")"
            do {
                try await session.execute(
                    """
                    DO $$ BEGIN
                        EXECUTE format('ALTER ROLE %I IN DATABASE %I \(change.replacing("'", with: "''"))',
                            \(role), current_database());
                    END $$
                    """)
                names.insert(name)
            } catch let error as PostgresError where ["idle_session_timeout", "transaction_timeout"].contains(name) {
                guard error.message.contains("unrecognized") else { throw error }
            }
        }
        await session.close()
        return names
    }

    @Test("A session doesn't depend on the settings of its role")
    func pinned() async throws {
        let conninfo = try await TestCluster.shared.makeDatabase()
        let names = try await Self.harm(conninfo, "current_user")
        #expect(names.count >= Self.settings.count - 2)
        let session = try await PostgresSession.connect(PostgresConfiguration(conninfo: conninfo))
        for (name, _, expected) in Self.settings where names.contains(name) {
            let shown = try await session.execute("SELECT current_setting('\(name)') AS value")?[0].string("value")
            #expect(shown == expected, "\(name)")
        }
        let instant = 1_795_320_000.123_456
        let rows = try await session.execute("SELECT \(instant)::double precision AS instant")
        #expect(try rows?[0].double("instant") == instant)
        await session.close()
    }

    @Test("A pool keeps its connection although its role ends idle sessions")
    func idle() async throws {
        let conninfo = try await TestCluster.shared.makeDatabase()
        _ = try await Self.harm(conninfo, "current_user")
        var configuration = PostgresConfiguration(conninfo: conninfo)
        configuration.keepAlive = true
        let client = PostgresClient(configuration: configuration)
        let statement = PostgresStatement(
            name: "",
            sql: """
                SELECT current_setting('idle_session_timeout', true) AS idle, current_setting('statement_timeout') AS statement
                """)
        let row = try await client.query(statement)[0]
        #expect(try row.string("idle") == "0")
        #expect(try row.string("statement") == "11s")
        await client.shutdown()
    }

    @Test("A role that may not restore foreign keys gets a connection error that names the setting")
    func foreignKeys() async throws {
        let conninfo = try await TestCluster.shared.makeDatabase()
        let role = "plain_\(UInt64.random(in: 0...UInt64.max))"
        try await TestCluster.execute("CREATE ROLE \(role) LOGIN", conninfo)
        try await TestCluster.execute(
            """
            DO $$ BEGIN
                EXECUTE format('ALTER ROLE \(role) IN DATABASE %I SET session_replication_role = replica',
                    current_database());
            END $$
            """, conninfo)
        let error = await #expect(throws: PostgresError.self) {
            let session = try await PostgresSession.connect(
                PostgresConfiguration(conninfo: "\(conninfo) user=\(role)"))
            await session.close()
        }
        #expect(error?.message.contains("session_replication_role") == true)
    }
}
