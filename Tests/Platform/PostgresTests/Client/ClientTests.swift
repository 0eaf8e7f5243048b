import FoundationEssentials
import Glibc
import Postgres
import TestSupport
import Testing

@Suite struct ClientTests {
    private static func client(
        _ change: (inout PostgresConfiguration) -> Void = { _ in }
    ) async throws -> PostgresClient {
        var configuration = PostgresConfiguration(conninfo: try await TestCluster.shared.makeDatabase())
        configuration.stallTimeout = .seconds(20)  // the machine may be busy with other suites
        configuration.connectTimeout = .seconds(20)
        change(&configuration)
        return PostgresClient(configuration: configuration)
    }

    @Test("Values return unchanged")
    func valuesReturnUnchanged() async throws {
        let client = try await Self.client()
        let statement = PostgresStatement(
            name: "echo",
            sql: """
                SELECT $1::text AS text, $2::bigint AS integer, $3::float8 AS double, $4::boolean AS boolean,
                    $5::text[] AS list, $6::text AS nothing, array_length($5::text[], 1) AS length
                """)
        let text = "Zürich \"quoted\" \\ back\n👩‍👩‍👧 'x'"
        let list: [String?] = ["a", nil, "", "NULL", "with \"quotes\" and \\", "{,}", "日本"]
        let rows = try await client.query(
            statement,
            [.text(text), .integer(.min), .double(0.1), .boolean(true), .textArray(list), .null])
        #expect(rows.count == 1)
        #expect(try rows[0].string("text") == text)
        #expect(try rows[0].integer("integer") == .min)
        #expect(try rows[0].double("double") == 0.1)
        #expect(try rows[0].boolean("boolean"))
        #expect(try rows[0].isNull("nothing"))
        #expect(try rows[0].optionalInteger("nothing") == nil)
        #expect(try rows[0].integer("length") == list.count)
        let elements = try await client.query(
            PostgresStatement(
                name: "unnest", sql: "SELECT e FROM unnest($1::text[]) WITH ORDINALITY u(e, n) ORDER BY n"),
            [.textArray(list)])
        #expect(try elements.map { try $0.optionalString("e") } == list)
        await client.shutdown()
    }

    @Test("Binary arrays are received as their values, among others", arguments: [0, 3])
    func binaryArrays(count: Int) async throws {
        let client = try await Self.client()
        let statement = PostgresStatement(
            name: "binary_arrays",
            sql: "SELECT $1::uuid[]::text AS ids, $2 AS text, $3::float8[]::text AS doubles, $4 AS nothing")
        let ids = [UUID(), nil, UUID()].prefix(count)
        let doubles = [0.1, -.infinity, 1e300].prefix(count)
        let row = try await client.query(
            statement, [.uuidArray(Array(ids)), .text("ada"), .doubleArray(Array(doubles)), .null])[0]
        #expect(
            try row.string("ids") == "{" + ids.map { $0?.uuidString.lowercased() ?? "NULL" }.joined(separator: ",")
                + "}")
        #expect(try row.string("doubles") == (count == 0 ? "{}" : "{0.1,-Infinity,1e+300}"))
        #expect(try row.string("text") == "ada")
        #expect(try row.isNull("nothing"))
        await client.shutdown()
    }

    @Test("An unreadable value names its column")
    func unreadableValueNamesItsColumn() async throws {
        let client = try await Self.client()
        let rows = try await client.query(PostgresStatement(name: "x", sql: "SELECT 'x' AS letter, NULL AS hole"))
        for read in [{ try rows[0].integer("letter") }, { try rows[0].integer("letters") }] {
            let error = #expect(throws: PostgresError.self) { try read() }
            #expect(error?.kind == .decoding)
            #expect(error?.message.contains("letter") == true)
        }
        #expect(throws: PostgresError.self) { try rows[0].string("hole") }
        #expect(throws: PostgresError.self) { try rows[1].string("letter") }
        await client.shutdown()
    }

    @Test("A failing query doesn't affect its neighbours in the pipeline")
    func failingQueryDoesNotAffectItsNeighboursInPipeline() async throws {
        let client = try await Self.client { $0.maxConnections = 1 }
        let divide = PostgresStatement(name: "divide", sql: "SELECT 1 / $1::int AS quotient")
        let broken = PostgresStatement(name: "broken", sql: "SELECT nonsense")
        async let first = client.query(divide, [.integer(1)])
        let second = Task { try await client.query(divide, [.integer(0)]) }
        let third = Task { try await client.query(broken) }
        let fourth = Task { try await client.query(broken) }
        async let fifth = client.query(divide, [.integer(1)])
        #expect(try await first[0].integer("quotient") == 1)
        let division = await #expect(throws: PostgresError.self) { _ = try await second.value }
        #expect(division?.kind == .server(sqlState: "22012"))
        let syntax = await #expect(throws: PostgresError.self) { _ = try await third.value }
        #expect(syntax?.kind == .server(sqlState: "42703"))
        let again = await #expect(throws: PostgresError.self) { _ = try await fourth.value }
        #expect(again?.kind == .server(sqlState: "42703"))
        #expect(try await fifth[0].integer("quotient") == 1)
        #expect(await client.counts().connections == 1)
        await client.shutdown()
    }

    @Test("An error at commit is the query's error")
    func errorAtCommitIsQuerysError() async throws {
        let client = try await Self.client { $0.maxConnections = 1 }
        _ = try await client.query(
            PostgresStatement(
                name: "",
                sql: "CREATE TABLE node (id int PRIMARY KEY, parent int REFERENCES node DEFERRABLE INITIALLY DEFERRED)"
            ))
        let insert = PostgresStatement(name: "insert", sql: "INSERT INTO node VALUES ($1, $2)")
        let error = await #expect(throws: PostgresError.self) {
            _ = try await client.query(insert, [.integer(1), .integer(7)])
        }
        #expect(error?.kind == .server(sqlState: "23503"))
        #expect(error?.constraint == "node_parent_fkey")
        #expect(try await client.query(insert, [.integer(1), .null]).affectedCount == 1)
        await client.shutdown()
    }

    @Test("A thousand queries share four connections")
    func thousandQueriesShareFourConnections() async throws {
        let client = try await Self.client { $0.maxConnections = 4 }
        let statement = PostgresStatement(
            name: "square", sql: "SELECT $1::int * $1::int AS square, pg_backend_pid() AS pid")
        let answers = try await withThrowingTaskGroup(of: (Int, Int, Int).self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let rows = try await client.query(statement, [.integer(number)])
                    return (number, try rows[0].integer("square"), try rows[0].integer("pid"))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count == 1_000)
        #expect(answers.allSatisfy { $0.0 * $0.0 == $0.1 })
        #expect((1...4).contains(Set(answers.map(\.2)).count))
        await client.shutdown()
        #expect(await client.counts().connections == 0)
    }

    @Test("A statement is prepared once for each connection")
    func statementIsPreparedOnceForEachConnection() async throws {
        let client = try await Self.client { $0.maxConnections = 1 }
        let statement = PostgresStatement(
            name: "prepared",
            sql: "SELECT generic_plans + custom_plans AS runs FROM pg_prepared_statements WHERE name = 'prepared'")
        for earlier in 0..<5 {
            let rows = try await client.query(statement)
            #expect(try rows[0].integer("runs") == earlier + 1 || rows[0].integer("runs") == earlier)
        }
        await client.shutdown()
    }

    @Test("A statement that no longer fits the schema works at the next attempt")
    func statementThatNoLongerFitsSchemaWorksAtNextAttempt() async throws {
        let client = try await Self.client { $0.maxConnections = 1 }
        _ = try await client.query(PostgresStatement(name: "", sql: "CREATE TABLE wide (a int)"))
        let all = PostgresStatement(name: "all", sql: "SELECT * FROM wide")
        _ = try await client.query(all)
        _ = try await client.query(PostgresStatement(name: "", sql: "ALTER TABLE wide ADD b int"))
        await #expect(throws: PostgresError.self) { _ = try await client.query(all) }
        _ = try await client.query(all)
        await client.shutdown()
    }

    @Test("A large query and a large result pass in pieces")
    func largeQueryAndLargeResultPassInPieces() async throws {
        let client = try await Self.client { $0.maxConnections = 1 }
        let text = String(repeating: "0123456789", count: 400_000)
        let statement = PostgresStatement(name: "big", sql: "SELECT $1::text AS text")
        async let first = client.query(statement, [.text(text)])
        async let second = client.query(statement, [.text(text)])
        #expect(try await first[0].string("text") == text)
        #expect(try await second[0].string("text") == text)
        await client.shutdown()
    }

    @Test("A query that exceeds its time fails, and the next one works")
    func queryThatExceedsItsTimeFails() async throws {
        let client = try await Self.client { $0.maxConnections = 1 }
        let sleep = PostgresStatement(name: "sleep", sql: "SELECT pg_sleep($1)")
        _ = try await client.query(sleep, [.double(0)])
        // The server would work on it for an hour.
        let slow = Task { try await client.query(sleep, [.double(3_600)], timeout: .milliseconds(200)) }
        async let neighbour = client.query(PostgresStatement(name: "one", sql: "SELECT 1 AS one"))
        let error = await #expect(throws: PostgresError.self) { _ = try await slow.value }
        #expect(error?.kind == .unavailable(outcomeUnknown: true))
        // After the cancel request the next statement runs.
        #expect(try await neighbour[0].integer("one") == 1)
        _ = try await client.query(sleep, [.double(0)])
        await client.shutdown()
    }

    @Test("A cancelled task returns at once")
    func cancelledTaskReturnsAtOnce() async throws {
        let (opened, sink) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(10))
        var configuration = PostgresConfiguration(conninfo: try await TestCluster.shared.makeDatabase())
        configuration.stallTimeout = .seconds(60)
        configuration.connectTimeout = .seconds(20)
        configuration.shutdownTimeout = .zero
        let client = PostgresClient(configuration: configuration, observer: OpeningObserver(sink: sink))
        let sleep = PostgresStatement(name: "sleep", sql: "SELECT pg_sleep(60)")
        let task = Task { try await client.query(sleep, timeout: .seconds(60)) }
        // The client sends the statement in the turn in which the connection opens.
        for await _ in opened { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        await client.shutdown()
    }

    @Test("A terminated backend fails its queries and is replaced")
    func terminatedBackendFailsItsQueriesAndIsReplaced() async throws {
        let client = try await Self.client { $0.maxConnections = 1 }
        let pid = PostgresStatement(name: "pid", sql: "SELECT pg_backend_pid() AS pid")
        let before = try await client.query(pid)[0].integer("pid")
        let error = await #expect(throws: PostgresError.self) {
            _ = try await client.query(
                PostgresStatement(name: "die", sql: "SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(60)"))
        }
        #expect(error?.kind == .unavailable(outcomeUnknown: true))
        #expect(try await client.query(pid)[0].integer("pid") != before)
        await client.shutdown()
    }

    @Test("A read-only database is unavailable")
    func readOnlyDatabaseIsUnavailable() async throws {
        let client = try await Self.client { $0.conninfo += " options='-c default_transaction_read_only=on'" }
        let error = await #expect(throws: PostgresError.self) {
            _ = try await client.query(PostgresStatement(name: "", sql: "CREATE TABLE t (a int)"))
        }
        #expect(error?.kind == .refused(sqlState: "25006"))
        await client.shutdown()
    }

    @Test("Sessions run in UTC")
    func sessionsRunInUTC() async throws {
        let client = try await Self.client()
        let rows = try await client.query(
            PostgresStatement(
                name: "zone",
                sql: "SELECT current_setting('TimeZone') AS zone, current_setting('client_encoding') AS encoding"))
        #expect(try rows[0].string("zone") == "UTC")
        #expect(try rows[0].string("encoding") == "UTF8")
        await client.shutdown()
    }

    @Test("After a shutdown nothing is sent")
    func afterShutdownNothingIsSent() async throws {
        let client = try await Self.client()
        let one = PostgresStatement(name: "one", sql: "SELECT 1")
        _ = try await client.query(one)
        await client.shutdown()
        await client.shutdown()
        let error = await #expect(throws: PostgresError.self) { _ = try await client.query(one) }
        #expect(error?.kind == .shutDown)
    }

    @Test("An unreachable database is unavailable within the time limit")
    func unreachableDatabaseIsUnavailableWithinTimeLimit() async throws {
        var configuration = PostgresConfiguration(conninfo: "host=/nowhere dbname=x")
        configuration.stallTimeout = .milliseconds(300)
        // The silence ends the query, not its own time.
        configuration.queryTimeout = .seconds(3_600)
        let client = PostgresClient(configuration: configuration)
        let error = await #expect(throws: PostgresError.self) {
            _ = try await client.query(PostgresStatement(name: "one", sql: "SELECT 1"))
        }
        #expect(error?.kind == .unavailable(outcomeUnknown: false))
        await client.shutdown()
    }
}

/// Reports when a connection is open.
private struct OpeningObserver: PostgresObserver {
    let sink: AsyncStream<Void>.Continuation

    func query(name: String, duration: Duration, outcome: PostgresQueryOutcome) {}

    func connection(_ event: PostgresConnectionEvent, message: String) {
        if event == .opened { sink.yield() }
    }
}
