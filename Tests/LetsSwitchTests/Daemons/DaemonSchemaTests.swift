import Postgres
import Schema
import TestSupport
import Testing

@testable import LetsSwitch

/// The step from a database that knew of no other daemons.
@Suite struct DaemonSchemaTests {
    @Test(
        "A database of the first build gets the daemons' table, and keeps its secrets; that build can't begin any more")
    func upgrade() async throws {
        let client = PostgresClient(
            configuration: PostgresConfiguration(conninfo: try await TestCluster.shared.makeDatabase()))
        let current = DatabaseSchema.current
        let first = PostgresSchema(
            name: current.name, migrations: Array(current.migrations.prefix(1)),
            // Its functions went with it: today's need tables that it hasn't.
            functions: PostgresFunctions(revision: 1, oldestUsable: 1, kept: current.functions.kept))
        _ = try await client.migrate(first)
        let secrets = PostgresStatement(
            name: "",
            sql: "SELECT name, octet_length(value) AS length, value::text AS text FROM letsswitch.secret ORDER BY name")
        let before = try await client.query(secrets).map { try $0.string("text") }
        #expect(
            try await client.migrate(current)
                == PostgresSchema.Change(migrations: [2, 3, 4, 5, 6, 7, 8, 9], replacedFunctions: true))
        let after = try await client.query(secrets)
        #expect(try after.map { try $0.string("name") } == ["person", "room-keys"])
        #expect(try after.map { try $0.integer("length") } == [32, 32])
        #expect(try after.map { try $0.string("text") }.prefix(1) == before[...])
        let error = await #expect(throws: PostgresError.self) { try await client.migrate(first) }
        #expect(error?.message.hasSuffix("(it knows up to 1): run a newer program") == true)
        await client.shutdown()
    }
}
