import Postgres
import TestSupport
import Testing

@Suite struct SchemaTests {
    private static let first = PostgresMigration(
        version: 1, name: "tables", sql: "CREATE TABLE house.a (n int); INSERT INTO house.a VALUES (1);")
    private static let second = PostgresMigration(version: 2, name: "more", sql: "INSERT INTO house.a VALUES (2)")

    private static func schema(
        _ migrations: [PostgresMigration], _ functions: PostgresFunctions = PostgresFunctions()
    ) -> PostgresSchema {
        PostgresSchema(name: "house", migrations: migrations, functions: functions)
    }

    /// Returns a type, a view that uses it, and a function that uses the view. They can only be dropped together.
    private static func functions(_ revision: Int, oldestUsable: Int = 0, says text: String) -> PostgresFunctions {
        PostgresFunctions(
            revision: revision, oldestUsable: oldestUsable,
            scripts: [
                PostgresFunctions.Script(
                    name: "types",
                    sql: "CREATE TYPE house.word AS (\(text) text); CREATE VIEW house.words AS SELECT n FROM house.a"),
                PostgresFunctions.Script(
                    name: "speech",
                    sql: """
                        CREATE FUNCTION house.say(p_word house.word DEFAULT NULL) RETURNS text
                        LANGUAGE sql AS $$ SELECT '\(text)' || count(*) || house.kept() FROM house.words $$
                        """),
            ], kept: ["kept"])
    }

    private static let kept = PostgresMigration(
        version: 1, name: "tables",
        sql: """
            CREATE TABLE house.a (n int); INSERT INTO house.a VALUES (1);
            CREATE FUNCTION house.kept() RETURNS text LANGUAGE sql AS $$ SELECT '!'::text $$
            """)

    private static func with(
        _ given: PostgresConfiguration? = nil, _ body: (PostgresClient) async throws -> Void
    ) async throws {
        let configuration = if let given { given } else { try await Self.configuration() }
        let client = PostgresClient(configuration: configuration)
        do {
            try await body(client)
        } catch {
            await client.shutdown()
            throw error
        }
        await client.shutdown()
    }

    private static func configuration() async throws -> PostgresConfiguration {
        var configuration = PostgresConfiguration(conninfo: try await TestCluster.shared.makeDatabase())
        configuration.connectTimeout = .seconds(20)
        configuration.stallTimeout = .seconds(20)
        return configuration
    }

    private static func ask(_ client: PostgresClient, _ sql: String) async throws -> String? {
        try await client.query(PostgresStatement(name: "", sql: sql))[0].optionalString("answer")
    }

    // MARK: Tables

    @Test("Each migration is applied once and in order")
    func eachMigrationIsAppliedOnceAndInOrder() async throws {
        try await Self.with { client async throws in
            #expect(try await client.migrate(Self.schema([Self.first])).migrations == [1])
            #expect(try await client.migrate(Self.schema([Self.second, Self.first])).migrations == [2])
            #expect(try await client.migrate(Self.schema([Self.first, Self.second])).isEmpty)
            #expect(
                try await Self.ask(client, "SELECT string_agg(n::text, ',' ORDER BY n) AS answer FROM house.a") == "1,2"
            )
        }
    }

    @Test("Daemons that start together migrate one after the other")
    func daemonsThatStartTogetherTakeTurns() async throws {
        let configuration = try await Self.configuration()
        let schema = Self.schema([Self.kept, Self.second], Self.functions(1, says: "yes"))
        let changes = try await withThrowingTaskGroup(of: PostgresSchema.Change.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let client = PostgresClient(configuration: configuration)
                    let change = try await client.migrate(schema)
                    await client.shutdown()
                    return change
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(changes.flatMap(\.migrations) == [1, 2])
        #expect(changes.filter(\.replacedFunctions).count == 1)
    }

    @Test("A failed migration leaves no changes")
    func failedMigrationLeavesNoChanges() async throws {
        try await Self.with { client async throws in
            let failing = PostgresMigration(version: 2, name: "bad", sql: "CREATE TABLE house.b (n int); SELECT 1 / 0")
            let error = await #expect(throws: PostgresError.self) {
                try await client.migrate(Self.schema([Self.first, failing]))
            }
            #expect(error?.kind == .server(sqlState: "22012"))
            #expect(error?.message.contains("migration 2 (bad)") == true)
            #expect(try await Self.ask(client, "SELECT to_regclass('house.b')::text AS answer") == nil)
            #expect(try await client.migrate(Self.schema([Self.first, Self.second])).migrations == [2])
        }
    }

    @Test("A newer database is refused")
    func aNewerDatabaseIsRefused() async throws {
        try await Self.with { client async throws in
            _ = try await client.migrate(Self.schema([Self.first, Self.second]))
            let error = await #expect(throws: UnusableSchemaError.self) {
                try await client.migrate(Self.schema([Self.first]))
            }
            #expect(error?.description.contains("version 2") == true)
        }
    }

    /// The history is from before the first release. Its migrations no longer exist.
    @Test("A database with another history is refused and unchanged")
    func databaseWithAnotherHistoryIsRefusedAndUnchanged() async throws {
        let configuration = try await Self.configuration()
        try await Self.with(configuration) { client async throws in
            _ = try await client.migrate(Self.schema([Self.first, Self.second]))
            let renamed = PostgresMigration(version: 1, name: "schema", sql: "DROP TABLE house.a")
            let schema = Self.schema([renamed], Self.functions(1, says: "yes"))
            let error = await #expect(throws: UnusableSchemaError.self) { try await client.migrate(schema) }
            #expect(error?.description.contains("before 1.0.0") == true)
            #expect(error?.description.hasSuffix("DROP SCHEMA house CASCADE") == true)
            #expect(error?.description.contains("\n") == false)
            let refusal = await #expect(throws: UnusableSchemaError.self) {
                try await schema.check(configuration, limit: .seconds(20))
            }
            #expect(refusal == error)
            #expect(try await Self.ask(client, "SELECT count(*)::text AS answer FROM house.a") == "2")
            #expect(try await Self.ask(client, "SELECT to_regclass('house.functions')::text AS answer") == nil)
        }
    }

    @Test("A check changes nothing in an empty or outdated database")
    func checkChangesNothing() async throws {
        let configuration = try await Self.configuration()
        try await Self.with(configuration) { client async throws in
            let schema = Self.schema([Self.kept, Self.second], Self.functions(2, says: "yes"))
            try await schema.check(configuration, limit: .seconds(20))
            #expect(try await Self.ask(client, "SELECT to_regnamespace('house')::text AS answer") == nil)
            _ = try await client.migrate(Self.schema([Self.kept]))
            try await schema.check(configuration, limit: .seconds(20))
            #expect(try await Self.ask(client, "SELECT count(*)::text AS answer FROM house.migration") == "1")
            #expect(try await Self.ask(client, "SELECT to_regclass('house.functions')::text AS answer") == nil)
        }
    }

    // MARK: Functions

    @Test("Functions are replaced when their text changes")
    func functionsAreMadeAnewWhenTheirTextHasChangedOverDataThatStay() async throws {
        try await Self.with { client async throws in
            let change = try await client.migrate(Self.schema([Self.kept], Self.functions(1, says: "yes")))
            #expect(change == PostgresSchema.Change(migrations: [1], replacedFunctions: true))
            #expect(try await Self.ask(client, "SELECT house.say() AS answer") == "yes1!")
            #expect(try await client.migrate(Self.schema([Self.kept], Self.functions(1, says: "yes"))).isEmpty)

            let later = Self.schema([Self.kept, Self.second], Self.functions(2, says: "no"))
            #expect(
                try await client.migrate(later) == PostgresSchema.Change(migrations: [2], replacedFunctions: true))
            #expect(try await Self.ask(client, "SELECT house.say() AS answer") == "no2!")
        }
    }

    @Test("Older functions never replace newer ones")
    func olderFunctionsNeverReplaceNewerOnes() async throws {
        try await Self.with { client async throws in
            _ = try await client.migrate(Self.schema([Self.kept], Self.functions(5, oldestUsable: 4, says: "new")))
            #expect(try await client.migrate(Self.schema([Self.kept], Self.functions(4, says: "old"))).isEmpty)
            #expect(try await Self.ask(client, "SELECT house.say() AS answer") == "new1!")
            let error = await #expect(throws: UnusableSchemaError.self) {
                try await client.migrate(Self.schema([Self.kept], Self.functions(3, says: "old")))
            }
            #expect(
                error?.description == """
                    the database's functions have revision 5, and this program, of revision 3, can't work with them: run a \
                    newer program
                    """)
        }
    }

    @Test("Functions that fail leave the earlier ones")
    func functionsThatFailLeaveThoseOfBefore() async throws {
        try await Self.with { client async throws in
            _ = try await client.migrate(Self.schema([Self.kept], Self.functions(1, says: "yes")))
            let broken = PostgresFunctions(
                revision: 2, scripts: [PostgresFunctions.Script(name: "speech", sql: "CREATE FUNCTION")], kept: ["kept"]
            )
            let error = await #expect(throws: PostgresError.self) {
                try await client.migrate(Self.schema([Self.kept], broken))
            }
            #expect(error?.message.contains("speech") == true)
            #expect(try await Self.ask(client, "SELECT house.say() AS answer") == "yes1!")
        }
    }

    /// A daemon that connected before the change continues to use its prepared statements.
    @Test("Prepared statements use the new functions")
    func preparedStatementsUseNewFunctions() async throws {
        try await Self.with { client async throws in
            let say = PostgresStatement(name: "say", sql: "SELECT house.say() AS answer")
            _ = try await client.migrate(Self.schema([Self.kept], Self.functions(1, says: "yes")))
            #expect(try await client.query(say)[0].string("answer") == "yes1!")
            _ = try await client.migrate(Self.schema([Self.kept], Self.functions(2, says: "no")))
            #expect(try await client.query(say)[0].string("answer") == "no1!")
        }
    }
}
