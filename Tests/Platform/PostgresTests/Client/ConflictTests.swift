import Basics
import TestSupport
import Testing

@testable import Postgres

/// Conflicting statements, of which only one can proceed.
@Suite struct ConflictTests {
    private static let start = ContinuousClock.now
    private static let deadlock = PostgresError(kind: .conflict(sqlState: "40P01"), message: "deadlock detected")

    @Test("A conflicting query is repeated within its time")
    func retries() {
        var retries = ConflictRetries(maximum: 3, deadline: Self.start + .seconds(10))
        let pauses = (0..<4).map { _ in retries.pause(after: Self.deadlock, now: Self.start, random: 0) }
        #expect(pauses == [.milliseconds(5), .milliseconds(10), .milliseconds(20), nil])
        var late = ConflictRetries(maximum: 3, deadline: Self.start + .milliseconds(4))
        #expect(late.pause(after: Self.deadlock, now: Self.start, random: 0) == nil)
    }

    @Test(
        "Other errors aren't repeated",
        arguments: [
            PostgresError.Kind.unavailable(outcomeUnknown: true), .unavailable(outcomeUnknown: false),
            .refused(sqlState: "53100"), .server(sqlState: "23505"), .shutDown,
        ])
    func others(kind: PostgresError.Kind) {
        var retries = ConflictRetries(maximum: 3, deadline: Self.start + .seconds(10))
        #expect(retries.pause(after: PostgresError(kind: kind, message: ""), now: Self.start, random: 0) == nil)
    }

    @Test("Only deadlocks and serialization failures are conflicts")
    func kinds() {
        #expect(PostgresError.kind(sqlState: "40P01", severity: "ERROR") == .conflict(sqlState: "40P01"))
        #expect(PostgresError.kind(sqlState: "40001", severity: "ERROR") == .conflict(sqlState: "40001"))
        #expect(PostgresError.kind(sqlState: "40002", severity: "ERROR") == .server(sqlState: "40002"))
        #expect(PostgresError.kind(sqlState: "40003", severity: "ERROR") == .unavailable(outcomeUnknown: true))
        #expect(PostgresError(kind: .conflict(sqlState: "40P01"), message: "").isUnavailable)
    }

    /// PostgreSQL looks for deadlocks at once. Only a superuser can set that, so the database has the setting.
    private static func client(
        _ observer: ConflictObserver, _ change: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> PostgresClient {
        var configuration = PostgresConfiguration(conninfo: try await TestCluster.shared.makeDatabase())
        configuration.conninfo += " options='-c deadlock_timeout=10ms'"
        configuration.stallTimeout = .seconds(20)
        configuration.connectTimeout = .seconds(20)
        configuration.queryTimeout = .seconds(20)
        configuration.maxPipelined = 1
        change(&configuration)
        return PostgresClient(configuration: configuration, observer: observer)
    }

    @Test("Two statements that deadlock both succeed")
    func deadlocks() async throws {
        let observer = ConflictObserver()
        let client = try await Self.client(observer)
        _ = try await client.query(
            PostgresStatement(name: "", sql: "CREATE TABLE ledger AS SELECT id, 0 AS n FROM generate_series(1, 2) id"))
        // Updates one row and then the other. During the pause the other statement locks its first row.
        let cross = PostgresStatement(
            name: "",
            sql: """
                CREATE FUNCTION cross_lock(first int, second int) RETURNS void LANGUAGE plpgsql AS $$
                BEGIN
                    UPDATE ledger SET n = n + 1 WHERE id = first;
                    PERFORM pg_sleep(0.05);
                    UPDATE ledger SET n = n + 1 WHERE id = second;
                END $$
                """)
        _ = try await client.query(cross)
        let call = PostgresStatement(name: "cross", sql: "SELECT cross_lock($1::int, $2::int)")
        var rounds = 0
        while observer.conflicts == 0 {
            rounds += 1
            async let one = client.query(call, [.integer(1), .integer(2)])
            async let other = client.query(call, [.integer(2), .integer(1)])
            _ = try await (one, other)
        }
        let sum = try await client.query(PostgresStatement(name: "", sql: "SELECT sum(n)::bigint AS n FROM ledger"))
        #expect(try sum[0].integer("n") == 4 * rounds)
        await client.shutdown()
    }

    @Test("A conflict that lasts becomes the caller's error")
    func endless() async throws {
        let observer = ConflictObserver()
        let client = try await Self.client(observer) { $0.maxRetries = 3 }
        let fail = PostgresStatement(
            name: "", sql: "DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = 'serialization_failure'; END $$")
        let error = await #expect(throws: PostgresError.self) { _ = try await client.query(fail) }
        #expect(error?.kind == .conflict(sqlState: "40001"))
        #expect(error?.isUnavailable == true)
        #expect(observer.conflicts == 4)
        await client.shutdown()
    }
}

private final class ConflictObserver: PostgresObserver {
    private let seen = Locked(0)

    var conflicts: Int { seen.withLock { $0 } }

    func query(name: String, duration: Duration, outcome: PostgresQueryOutcome) {
        if case .failed(.conflict) = outcome { seen.withLock { $0 += 1 } }
    }

    func connection(_ event: PostgresConnectionEvent, message: String) {}
}
