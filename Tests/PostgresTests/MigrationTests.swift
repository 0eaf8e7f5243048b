import Postgres
import TestSupport
import Testing

@Suite struct MigrationTests {
    private static let first = PostgresMigration(
        version: 1, name: "tables", sql: "CREATE TABLE a (n int); INSERT INTO a VALUES (1);")
    private static let second = PostgresMigration(version: 2, name: "more", sql: "INSERT INTO a VALUES (2)")

    private static func configuration() async throws -> PostgresConfiguration {
        var configuration = PostgresConfiguration(conninfo: try await TestCluster.shared.makeDatabase())
        configuration.connectTimeout = .seconds(20)
        configuration.stallTimeout = .seconds(20)
        return configuration
    }

    @Test func eachIsAppliedOnceAndInOrder() async throws {
        let client = PostgresClient(configuration: try await Self.configuration())
        #expect(try await client.migrate([Self.first]) == [1])
        #expect(try await client.migrate([Self.second, Self.first]) == [2])
        #expect(try await client.migrate([Self.first, Self.second]) == [])
        let rows = try await client.query(PostgresStatement(name: "n", sql: "SELECT n FROM a ORDER BY n"))
        #expect(try rows.map { try $0.integer("n") } == [1, 2])
        await client.shutdown()
    }

    @Test func daemonsThatStartTogetherTakeTurns() async throws {
        let configuration = try await Self.configuration()
        let applied = try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let client = PostgresClient(configuration: configuration)
                    let applied = try await client.migrate([Self.first, Self.second])
                    await client.shutdown()
                    return applied
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(applied == [1, 2])
    }

    @Test func oneThatFailsLeavesNothingOfItself() async throws {
        let client = PostgresClient(configuration: try await Self.configuration())
        let failing = PostgresMigration(version: 2, name: "bad", sql: "CREATE TABLE b (n int); SELECT 1 / 0")
        let error = await #expect(throws: PostgresError.self) { try await client.migrate([Self.first, failing]) }
        #expect(error?.kind == .server(sqlState: "22012"))
        #expect(error?.message.contains("migration 2 (bad)") == true)
        let there = PostgresStatement(name: "b", sql: "SELECT to_regclass('b') IS NULL AS absent")
        #expect(try await client.query(there)[0].boolean("absent"))
        #expect(try await client.migrate([Self.first, Self.second]) == [2])
        await client.shutdown()
    }

    @Test func aNewerDatabaseIsRefused() async throws {
        let client = PostgresClient(configuration: try await Self.configuration())
        _ = try await client.migrate([Self.first, Self.second])
        let error = await #expect(throws: PostgresError.self) { try await client.migrate([Self.first]) }
        #expect(error?.message.contains("version 2") == true)
        await client.shutdown()
    }
}
