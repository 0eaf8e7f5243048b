import Glibc
import Postgres
import TestSupport
import Testing

@Suite struct ListenerTests {
    @Test("A listener receives notifications, and listens again after a loss")
    func listenerReceivesNotifications() async throws {
        let configuration = PostgresConfiguration(conninfo: try await TestCluster.shared.makeDatabase())
        let (events, sink) = AsyncStream.makeStream(
            of: PostgresListenerEvent.self, bufferingPolicy: .bufferingOldest(100))
        let listener = PostgresListener(configuration: configuration, channels: ["tasks", "Other \"one\""]) {
            sink.yield($0)
        }
        async let begun: Void = listener.waitUntilListening()
        await listener.start()
        var received = events.makeAsyncIterator()
        #expect(await received.next() == .listening)
        await begun

        let session = try await PostgresSession.connect(configuration)
        try await session.execute("NOTIFY tasks, 'a'; NOTIFY \"Other \"\"one\"\"\", 'b'; NOTIFY unheard")
        #expect(await received.next() == .notification(channel: "tasks", payload: "a"))
        #expect(await received.next() == .notification(channel: "Other \"one\"", payload: "b"))

        try await session.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()"
        )
        guard case .lost = await received.next() else {
            Issue.record("the loss was not reported")
            return
        }
        #expect(await received.next() == .listening)
        try await session.execute("NOTIFY tasks")
        #expect(await received.next() == .notification(channel: "tasks", payload: ""))
        await listener.stop()
        await session.close()
    }

    @Test("The heartbeat detects a half-open connection")
    func heartbeatDetectsHalfOpenConnection() async throws {
        var configuration = PostgresConfiguration(conninfo: try await TestCluster.shared.makeDatabase())
        configuration.heartbeatInterval = .milliseconds(50)
        configuration.heartbeatTimeout = .milliseconds(200)
        let (events, sink) = AsyncStream.makeStream(
            of: PostgresListenerEvent.self, bufferingPolicy: .bufferingOldest(100))
        configuration.applicationName = "frozen"
        configuration.connectTimeout = .seconds(20)
        let session = try await PostgresSession.connect(configuration)
        let listener = PostgresListener(configuration: configuration, channels: ["tasks"]) { sink.yield($0) }
        await listener.start()
        var received = events.makeAsyncIterator()
        // On a busy machine a heartbeat may be late even before the freeze. Then the listener reconnects first.
        #expect(await received.next() == .listening)
        let rows = try await session.execute(
            """
            SELECT pid FROM pg_stat_activity
            WHERE application_name = 'frozen' AND datname = current_database() AND pid <> pg_backend_pid()
            """)
        for row in try #require(rows) { kill(pid_t(try row.integer("pid")), SIGSTOP) }
        guard case .lost = await received.next() else {
            Issue.record("the loss was not reported")
            return
        }
        #expect(await received.next() == .listening)
        for row in try #require(rows) { kill(pid_t(try row.integer("pid")), SIGCONT) }
        await listener.stop()
        await session.close()
    }

    @Test("An unreachable database is reported")
    func unreachableDatabaseIsReported() async throws {
        let (events, sink) = AsyncStream.makeStream(
            of: PostgresListenerEvent.self, bufferingPolicy: .bufferingOldest(100))
        let listener = PostgresListener(
            configuration: PostgresConfiguration(conninfo: "host=/nowhere dbname=x"), channels: ["tasks"]
        ) { sink.yield($0) }
        await listener.start()
        var received = events.makeAsyncIterator()
        guard case .lost = await received.next() else {
            Issue.record("the failure was not reported")
            return
        }
        await listener.stop()
    }
}
