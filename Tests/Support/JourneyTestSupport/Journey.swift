package import Domain
import InterfaceTestSupport
package import LetsSwitch
package import Postgres
import Reminders
import Schema
import Server
package import Settings
package import TestSupport

/// A test's world: a database with a clock of its own, and the daemons on it, which the journey stops at its end.
///
/// The database's clock stands still unless the test moves it, so that nothing falls due, expires or starts while a busy machine is slow.
/// A test of what happens as time passes asks for ``Clock/running``.
package final class Journey: Sendable {
    /// libpq's connection string of the database.
    package let conninfo: String
    package let client: PostgresClient
    private let timeouts: Timeouts
    private let daemons = RunningDaemons()
    private let cluster: TestCluster

    /// How long daemons wait for a silent database or for a peer that doesn't read.
    package enum Timeouts {
        /// Long, for tests of something else on a busy machine.
        case long
        /// The documented time, for tests of outages.
        case documented
    }

    /// How the database's clock behaves between two calls that set it.
    package enum Clock {
        /// All rows that are written between two calls have the same time.
        case stopped
        /// The clock runs with the machine's.
        case running
    }

    private init(conninfo: String, cluster: TestCluster, timeouts: Timeouts) {
        self.conninfo = conninfo
        self.cluster = cluster
        self.timeouts = timeouts
        client = Self.client(conninfo)
    }

    /// For clients of the test's own.
    package var configuration: PostgresConfiguration { Self.configuration(conninfo) }

    private static func client(_ conninfo: String) -> PostgresClient {
        PostgresClient(configuration: configuration(conninfo))
    }

    private static func configuration(_ conninfo: String) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(conninfo: conninfo)
        configuration.maxConnections = 4
        configuration.connectTimeout = .seconds(20)
        configuration.queryTimeout = .seconds(60)
        configuration.stallTimeout = .seconds(30)
        return configuration
    }

    package static func run(
        on cluster: TestCluster = .shared, timeouts: Timeouts = .long, clock: Clock = .stopped,
        _ body: (Journey) async throws -> Void
    ) async throws {
        try await TestLimiter.journeys.hold {
            let conninfo = try await cluster.makeDatabase(named: "journey") { try await prepare($0) }
            let journey = Journey(conninfo: conninfo, cluster: cluster, timeouts: timeouts)
            do {
                if clock == .stopped { try await journey.sql(ShiftedClock.stop) }
                try await Evidence.collect {
                    Evidence.addSlow { await journey.clockReport() }
                    try await InterfaceValidation.validating { try await body(journey) }
                }
                await journey.end()
            } catch {
                await journey.end()
                throw error
            }
        }
    }

    private static func prepare(_ conninfo: String) async throws {
        let client = client(conninfo)
        _ = try await client.migrate(DatabaseSchema.current)
        for statement in ShiftedClock.install + StoredZoneNames.install { try await sql(statement, client) }
        await client.shutdown()
    }

    private func end() async {
        await daemons.stop()
        await client.shutdown()
        await cluster.remove(conninfo)
    }

    // MARK: Daemons

    /// Starts a daemon in this process. `change` is applied last to its configuration.
    package func daemon(_ change: (inout Configuration) -> Void = { _ in }) async throws -> ClientEndpoint {
        try await daemonAndEndpoint(change).endpoint
    }

    /// Starts a daemon on a Unix socket. For a client that doesn't read, the kernel buffers about 200 kB there, always
    /// the same amount.
    package func daemonOnUnixSocket(
        _ change: (inout Configuration) -> Void = { _ in }
    ) async throws -> ClientEndpoint {
        try await daemon {
            $0.listen = [.unix(path: TestClusterDirectories.shared.make() + "/socket")]
            change(&$0)
        }
    }

    /// Starts a daemon and returns it too, for tests that send it the system's events.
    package func daemonAndEndpoint(
        _ change: (inout Configuration) -> Void = { _ in }
    ) async throws -> (daemon: Daemon, endpoint: ClientEndpoint) {
        var configuration = Configuration()
        configuration.listen = [.tcp(host: "127.0.0.1", port: 0)]
        configuration.database = .url(conninfo)
        configuration.loops = 2
        configuration.postgres.maxConnections = 4
        switch timeouts {
        case .long:
            configuration.postgres.stallTimeout = .seconds(30)
            (configuration.limits.writeTimeout, configuration.limits.pongTimeout) = (.seconds(600), .seconds(600))
        case .documented: configuration.postgres.stallTimeout *= TimeAllowance.factor
        }
        // Some test clients no longer read, and would delay the end.
        configuration.limits.closeTimeout = .milliseconds(200)
        change(&configuration)
        return try await daemons.start(
            configuration, patience: timeouts == .long ? .seconds(60) : Daemon.databasePatience)
    }

    /// Starts the built `letsswitchd` on this database, and waits until it listens, with ``Patience/long`` until it is ready.
    package func process(
        _ arguments: [String] = [], environment: [String: String] = [:]
    ) async throws -> (daemon: DaemonProcess, endpoint: ClientEndpoint) {
        let given = ["--listen", "127.0.0.1:0", "--database-url", conninfo, "--close-timeout", "0.2s"]
        switch timeouts {
        case .long:
            let waits = ["--database-wait", "30s", "--write-timeout", "600s", "--pong-timeout", "600s"]
            return try await DaemonProcess.ready(given + waits + arguments, environment: environment)
        case .documented: return try await DaemonProcess.listening(given + arguments, environment: environment)
        }
    }

    // MARK: Time

    /// The database's clock, rounded up to a second, plus `seconds`.
    package func instant(in seconds: Int) async throws -> Instant {
        let rows = try await sql("SELECT ceil(extract(epoch FROM core.clock()))::bigint AS now")
        return Instant(seconds: try rows[0].integer("now") + seconds)
    }

    /// Sets the clock to `seconds` after `instant`, or before it if the number is negative, and wakes the schedulers.
    package func advance(to instant: Instant, _ seconds: Double = 0) async throws {
        try await sql(ShiftedClock.advance(toSeconds: Double(instant.seconds) + seconds))
        try await wakeSchedulers()
    }

    /// Lets a standing clock run from where it stands.
    package func startClock() async throws {
        try await sql(ShiftedClock.start)
    }

    /// Moves the clock by so many seconds. The schedulers don't notice before they look again.
    package func move(by seconds: Double) async throws {
        try await sql(ShiftedClock.move(bySeconds: seconds))
    }

    /// Makes the schedulers of all daemons read the clock.
    package func wakeSchedulers() async throws {
        // A notification of a reminder that is due before all that they know.
        try await sql("SELECT pg_notify('\(ReminderStore.dueChannel)', '0')")
    }

    // MARK: The database

    @discardableResult
    package func sql(_ text: String) async throws -> PostgresRows {
        try await Self.sql(text, client)
    }

    @discardableResult
    private static func sql(_ text: String, _ client: PostgresClient) async throws -> PostgresRows {
        try await client.query(PostgresStatement(name: "", sql: text), [], timeout: nil)
    }

    /// Returns the number of rows in a table. `table` may contain a condition.
    package func count(_ table: String) async throws -> Int {
        try await sql("SELECT count(*) AS n FROM \(table)")[0].integer("n")
    }

    /// Asks every few milliseconds until the condition is true. If that takes longer than `allowed`, the failure has rows of the condition's tables.
    package func wait(until condition: String, within allowed: Duration = Deadline.standard) async throws {
        do {
            try await eventually(condition, within: allowed) {
                try await sql("SELECT (\(condition)) AS is")[0].boolean("is")
            }
        } catch ClientFailure.timedOut(let what, let allowed, let received) {
            throw ClientFailure.timedOut(
                waitingFor: what, after: allowed, received: "\(await rows(named: condition)) \(received)")
        }
    }
}
