import Postgres
import Schema
import TestSupport
import Testing

/// The upgrade of a database from before there were several daemons.
@Suite struct DaemonSchemaTests {
    /// Returns the database after this build's migrations, without functions. The current functions need tables that it
    /// lacks.
    private static func database(ofBuild build: Int) async throws -> (PostgresClient, PostgresSchema) {
        let client = PostgresClient(
            configuration: PostgresConfiguration(conninfo: try await TestCluster.shared.makeDatabase()))
        let current = DatabaseSchema.current
        let schema = PostgresSchema(
            name: current.name, migrations: Array(current.migrations.prefix(build)),
            functions: PostgresFunctions(revision: build, oldestUsable: build, kept: current.functions.kept))
        _ = try await client.migrate(schema)
        return (client, schema)
    }

    @Test(
        "A database of the first build gets the daemons' table and keeps its secrets, and that build can't start any more"
    )
    func upgrade() async throws {
        let current = DatabaseSchema.current
        let (client, first) = try await Self.database(ofBuild: 1)
        let secrets = PostgresStatement(
            name: "",
            sql: "SELECT name, octet_length(value) AS length, value::text AS text FROM letsswitch.secret ORDER BY name")
        let before = try await client.query(secrets).map { try $0.string("text") }
        #expect(
            try await client.migrate(current)
                == PostgresSchema.Change(
                    migrations: current.migrations.dropFirst().map(\.version), replacedFunctions: true))
        let after = try await client.query(secrets)
        #expect(try after.map { try $0.string("name") } == ["invitations", "person", "room-keys"])
        #expect(try after.map { try $0.integer("length") } == [32, 32, 32])
        #expect(try after.map { try $0.string("text") }[1...1] == before[...])
        let error = await #expect(throws: PostgresError.self) { try await client.migrate(first) }
        #expect(error?.message.hasSuffix("(it knows up to 1): run a newer program") == true)
        await client.shutdown()
    }

    @Test(
        "Tasks, names and blocks of the eighth build's database are kept by the ninth's migrations")
    func dataStay() async throws {
        let (client, _) = try await Self.database(ofBuild: 8)
        func run(_ sql: String) async throws -> [PostgresRow] {
            Array(try await client.query(PostgresStatement(name: "", sql: sql), [], timeout: nil))
        }
        _ = try await run(
            """
            INSERT INTO letsswitch.chat_user (name, device_id, named_at) VALUES ('ada', 'a', now()), ('bob', 'b', now())
            """)
        _ = try await run(
            """
            INSERT INTO letsswitch.chat_block SELECT own.id, other.id
            FROM letsswitch.chat_user AS own, letsswitch.chat_user AS other WHERE own.name = 'ada' AND other.name = 'bob'
            """)
        _ = try await run(
            """
            INSERT INTO letsswitch.task
                (id, device_id, title, starts_at, reminds_at, time_zone, start_time, room_id, closes_at)
            SELECT gen_random_uuid(), 'a', 'Maths', now(), now(), 'UTC', '00:00', gen_random_uuid(), now()
            """)
        _ = try await client.migrate(DatabaseSchema.current)
        let rows = try await run(
            """
            SELECT block.device_id || ' ' || block.blocked_id || ' ' || block.name || ' ' || task.title AS text
            FROM letsswitch.block, letsswitch.task
            """)
        #expect(try rows.map { try $0.string("text") } == ["a b bob Maths"])
        await client.shutdown()
    }
}
