import Glibc
import Postgres
import TestSupport
import Testing

/// A database that becomes unavailable and returns.
@Suite struct OutageTests {
    @Test("A stop and a restart of the cluster are both detected")
    func stopAndRestartOfClusterAreBothDetected() async throws {
        let cluster = try await TestCluster.dedicated()
        var configuration = PostgresConfiguration(conninfo: try await cluster.makeDatabase())
        configuration.stallTimeout = .milliseconds(500)
        // The silence ends the query, not its own time.
        configuration.queryTimeout = .seconds(3_600)
        let client = PostgresClient(configuration: configuration)
        let one = PostgresStatement(name: "one", sql: "SELECT 1 AS one")
        // On a busy machine the first connection may take longer than a query waits.
        var first: PostgresRows?
        for _ in 0..<20 where first == nil { first = try? await client.query(one) }
        try #require(first != nil)
        await cluster.stop()

        let error = await #expect(throws: PostgresError.self) { _ = try await client.query(one) }
        #expect(error?.isUnavailable == true)

        try await cluster.start()
        try await eventually("an answer") { (try? await client.query(one)) != nil }
        await client.shutdown()
        await cluster.stop()
    }

    @Test("A frozen server doesn't keep callers waiting")
    func frozenServerDoesNotKeepCallersWaiting() async throws {
        let cluster = try await TestCluster.dedicated()
        var configuration = PostgresConfiguration(conninfo: try await cluster.makeDatabase())
        configuration.maxConnections = 1
        configuration.shutdownTimeout = .milliseconds(100)
        // Only the time of each query ends it: the server is frozen until all have failed.
        configuration.stallTimeout = .seconds(3_600)
        configuration.queryTimeout = .seconds(3_600)
        configuration.connectTimeout = .seconds(20)
        let client = PostgresClient(configuration: configuration)
        let pid = PostgresStatement(name: "pid", sql: "SELECT pg_backend_pid() AS pid")
        let backend = pid_t(try await client.query(pid)[0].integer("pid"))
        kill(backend, SIGSTOP)
        let errors = await withTaskGroup(of: PostgresError?.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    do {
                        _ = try await client.query(pid, timeout: .milliseconds(300))
                        return nil
                    } catch {
                        return error as? PostgresError
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(errors.allSatisfy { $0?.isUnavailable == true })
        // The frozen connection is given up, and another one is used.
        #expect(try await client.query(pid)[0].integer("pid") != Int(backend))
        kill(backend, SIGCONT)
        await client.shutdown()
        await cluster.stop()
    }
}
