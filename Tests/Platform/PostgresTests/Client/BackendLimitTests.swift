import Dispatch
import TestSupport
import Testing

@testable import Postgres

/// The server's processes for a client: there are never more than the client's limit, and none runs without a caller.
@Suite struct BackendLimitTests {
    private static func configuration(_ name: String) async throws -> PostgresConfiguration {
        var configuration = PostgresConfiguration(conninfo: try await TestCluster.shared.makeDatabase())
        configuration.conninfo += " application_name=\(name)"
        configuration.connectTimeout = .seconds(20)
        configuration.stallTimeout = .seconds(20)
        return configuration
    }

    private static func watcher(_ configuration: PostgresConfiguration) -> PostgresClient {
        var own = configuration
        own.conninfo += " application_name=watcher"
        return PostgresClient(configuration: own)
    }

    private static func count(_ watcher: PostgresClient, _ condition: String) async throws -> Int {
        let rows = try await watcher.query(
            PostgresStatement(name: "", sql: "SELECT count(*) AS n FROM pg_stat_activity WHERE \(condition)"))
        return try rows[0].integer("n")
    }

    @Test("The server never has more processes for a pool than permitted")
    func limit() async throws {
        var configuration = try await Self.configuration("flood")
        configuration.maxConnections = 3
        configuration.stallTimeout = .milliseconds(100)
        configuration.queryTimeout = .milliseconds(700)
        // The server answers, but may be slow.
        configuration.endPatience = .seconds(60)
        var watching = configuration
        watching.stallTimeout = .seconds(20)
        watching.queryTimeout = .seconds(20)
        let watcher = Self.watcher(watching)
        let client = PostgresClient(configuration: configuration)
        let sleep = PostgresStatement(name: "sleep", sql: "SELECT pg_sleep(60)")
        let end = ContinuousClock.now + .seconds(4)
        let most = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    while ContinuousClock.now < end { _ = try? await client.query(sleep) }
                    return 0
                }
            }
            var most = 0
            while ContinuousClock.now < end {
                most = max(most, try await Self.count(watcher, "application_name = 'flood'"))
            }
            try await group.waitForAll()
            return most
        }
        #expect((1...3).contains(most))
        // Statements whose caller has given up end too.
        try await eventually("no statement running") {
            try await Self.count(watcher, "application_name = 'flood' AND state = 'active'") == 0
        }
        await client.shutdown()
        await watcher.shutdown()
    }

    @Test("The server's limit is slightly above each query's, and a session keeps its own")
    func serverLimit() async throws {
        var configuration = try await Self.configuration("limits")
        configuration.maxConnections = 1
        let client = PostgresClient(configuration: configuration)
        func limit(_ timeout: Duration?) async throws -> String {
            let show = PostgresStatement(name: "show", sql: "SELECT current_setting('statement_timeout') AS it")
            return try await client.query(show, timeout: timeout)[0].string("it")
        }
        #expect(try await limit(nil) == "11s")
        #expect(try await limit(.seconds(30)) == "31s")
        #expect(try await limit(nil) == "11s")
        #expect(try await limit(.milliseconds(19_500)) == "20500ms")
        #expect(try await limit(.seconds(30)) == "31s")
        #expect(try await limit(nil) == "11s")
        await client.shutdown()
        let session = try await PostgresSession.connect(configuration)
        let rows = try await session.execute(
            """
            SELECT current_setting('statement_timeout') AS limit,
                current_setting('client_connection_check_interval') AS check
            """)
        #expect(try rows?.first?.string("limit") == "2min")
        #expect(try rows?.first?.string("check") == "500ms")
        await session.close()
    }

    @Test("A query with its own time limit fails alone")
    func ownTime() async throws {
        var configuration = try await Self.configuration("own")
        configuration.maxConnections = 1
        let client = PostgresClient(configuration: configuration)
        let divide = PostgresStatement(name: "divide", sql: "SELECT 1 / $1::int AS quotient")
        let first = Task { try await client.query(divide, [.integer(0)], timeout: .seconds(100)) }
        async let second = client.query(divide, [.integer(1)], timeout: .seconds(100))
        async let third = client.query(divide, [.integer(1)])
        let error = await #expect(throws: PostgresError.self) { _ = try await first.value }
        #expect(error?.kind == .server(sqlState: "22012"))
        #expect(try await second[0].integer("quotient") == 1)
        #expect(try await third[0].integer("quotient") == 1)
        await client.shutdown()
    }

    @Test("The statement of a vanished client ends without a cancel request")
    func vanished() async throws {
        let configuration = try await Self.configuration("vanished")
        let watcher = Self.watcher(configuration)
        let session = try await PostgresSession.connect(configuration)
        let running = Task { try? await session.execute("SELECT pg_sleep(600)", timeout: .seconds(600)) }
        let there = "application_name = 'vanished'"
        try await eventually("running") { try await Self.count(watcher, "\(there) AND state = 'active'") == 1 }
        await session.close()
        _ = await running.value
        try await eventually("ended") { try await Self.count(watcher, there) == 0 }
        await watcher.shutdown()
    }

    @Test("A session's script that exceeds its limit doesn't continue in the server")
    func sessionTimeout() async throws {
        let configuration = try await Self.configuration("script")
        let watcher = Self.watcher(configuration)
        let session = try await PostgresSession.connect(configuration)
        let error = await #expect(throws: PostgresError.self) {
            _ = try await session.execute("SELECT pg_sleep(600)", timeout: .milliseconds(50))
        }
        #expect(error?.isUnavailable == true)
        try await eventually("ended") { try await Self.count(watcher, "application_name = 'script'") == 0 }
        await watcher.shutdown()
    }

    @Test("Cancel requests that hang don't delay others")
    func cancels() async {
        let sender = CancelSender()
        let hanging = DispatchSemaphore(value: 0)
        for _ in 0..<8 { sender.send { hanging.wait() } }
        await withCheckedContinuation { continuation in sender.send { continuation.resume() } }
        for _ in 0..<8 { hanging.signal() }
    }

    @Test("Any number of cancel requests is sent, by a limited number of threads")
    func manyCancels() async {
        let sender = CancelSender()
        let (sent, sink) = AsyncStream.makeStream(of: Void.self)
        for _ in 0..<500 { sender.send { sink.yield() } }
        var count = 0
        for await _ in sent {
            count += 1
            if count == 500 { break }
        }
        #expect(count == 500)
    }
}
