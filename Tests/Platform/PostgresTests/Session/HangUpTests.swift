import Postgres
import TestSupport
import Testing

@Suite struct HangUpTests {
    @Test("The end of a connection is detected, even together with the goodbye")
    func noticed() async throws {
        let conninfo = try await TestCluster.shared.makeDatabase()
        var configuration = PostgresConfiguration(conninfo: conninfo)
        configuration.maxConnections = 1
        configuration.minBackoff = .milliseconds(1)
        configuration.maxBackoff = .milliseconds(1)
        configuration.stallTimeout = Deadline.standard
        configuration.queryTimeout = Deadline.standard
        let clients = (0..<8).map { _ in PostgresClient(configuration: configuration) }
        let executioner = PostgresClient(configuration: configuration)
        let pid = PostgresStatement(name: "pid", sql: "SELECT pg_backend_pid()::text AS pid")
        let end = PostgresStatement(
            name: "end", sql: "SELECT count(pg_terminate_backend(pid)) AS n FROM unnest($1::text[]::int[]) AS pid")
        let left = PostgresStatement(
            name: "left", sql: "SELECT count(*) AS n FROM pg_stat_activity WHERE pid = ANY($1::text[]::int[])")
        for _ in 0..<12 {
            var servers: [String] = []
            for client in clients {
                servers.append(try await client.query(pid)[0].string("pid"))
            }
            _ = try await executioner.query(end, [.textArray(servers)])
            while try await executioner.query(left, [.textArray(servers)])[0].integer("n") > 0 {}
            // A client that doesn't notice the end would send its query and wait until its time limit.
            for client in clients {
                do {
                    _ = try await client.query(pid)
                } catch let error as PostgresError {
                    #expect(!error.message.contains("no answer"))
                }
            }
        }
        for client in clients + [executioner] { await client.shutdown() }
    }
}
