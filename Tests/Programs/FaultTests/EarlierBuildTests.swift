import Postgres
import Schema
import TestSupport
import Testing

/// A database that a build before 1.0.0 made. Its tables came from other migrations.
@Suite struct EarlierBuildTests {
    private static let sentence = """
        the database was made by a build before 1.0.0, which this program can't read or convert: use another database or \
        state directory, or delete all of its data with DROP SCHEMA letsswitch CASCADE
        """

    /// Returns the conninfo of a database with the records of such a build, and one of its tasks.
    private static func earlierDatabase() async throws -> String {
        let conninfo = try await TestCluster.shared.makeDatabase()
        _ = try await TestCluster.execute(
            """
            CREATE SCHEMA letsswitch;
            CREATE TABLE letsswitch.migration (
                version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now());
            INSERT INTO letsswitch.migration (version, name)
            VALUES (1, 'schema'), (2, 'daemons'), (3, 'presence'), (26, 'question-count');
            CREATE TABLE letsswitch.functions (
                revision integer NOT NULL, oldest_usable integer NOT NULL, digest text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now());
            INSERT INTO letsswitch.functions (revision, oldest_usable, digest) VALUES (41, 14, 'other');
            CREATE TABLE letsswitch.task (title text);
            INSERT INTO letsswitch.task VALUES ('Maths')
            """, conninfo)
        return conninfo
    }

    private static func expectUnchanged(_ conninfo: String) async throws {
        let rows = try await TestCluster.execute(
            """
            SELECT concat_ws(' ',
                (SELECT string_agg(title, ',') FROM letsswitch.task), (SELECT count(*) FROM letsswitch.migration),
                (SELECT revision FROM letsswitch.functions),
                (SELECT count(*) FROM pg_class WHERE relnamespace = 'letsswitch'::regnamespace AND relkind = 'r')) AS state
            """, conninfo)
        #expect(try rows?.first?.string("state") == "Maths 4 41 3")
    }

    @Test("A daemon doesn't start with the database of an earlier build")
    func start() async throws {
        let conninfo = try await Self.earlierDatabase()
        let daemon = try await DaemonProcess.start(["--listen", "127.0.0.1:0", "--database-url", conninfo])
        let log = try await daemon.waitForLog("can't start")
        #expect(log["level"] == "error" && log["error"].string == Self.sentence)
        #expect(try await daemon.waitForExit() == .exited(1))
        #expect(!daemon.output.contains("\"listening\""))
        try await Self.expectUnchanged(conninfo)
    }

    @Test("`check` refuses the database of an earlier build")
    func check() async throws {
        let conninfo = try await Self.earlierDatabase()
        let check = try await DaemonProcess.start(["check", "--database-url", conninfo])
        #expect(try await check.waitForExit() == .exited(1))
        #expect(check.output.contains("error: the database that --database-url names: \(Self.sentence)"))
        #expect(!check.output.contains("warning"))
        try await Self.expectUnchanged(conninfo)
    }

    @Test("The first daemon on an empty database creates all tables and the secrets")
    func empty() async throws {
        let client = PostgresClient(
            configuration: PostgresConfiguration(conninfo: try await TestCluster.shared.makeDatabase()))
        #expect(
            try await client.migrate(DatabaseSchema.current)
                == PostgresSchema.Change(migrations: [1], replacedFunctions: true))
        let secrets = try await client.query(
            PostgresStatement(
                name: "", sql: "SELECT name, octet_length(value) AS length FROM core.secret ORDER BY name"))
        #expect(try secrets.map { try $0.string("name") } == ["invitations", "person", "room-keys"])
        #expect(try secrets.map { try $0.integer("length") } == [32, 32, 32])
        #expect(try await client.migrate(DatabaseSchema.current).isEmpty)
        await client.shutdown()
    }
}
