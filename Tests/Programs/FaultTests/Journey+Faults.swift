import JourneyTestSupport
import Postgres
import TestSupport

/// Tools for causing faults.
extension Journey {
    /// The name of the daemons' connections in `pg_stat_activity`, to distinguish them from the test's.
    static let faultyName = "daemon"

    /// The connection string for a daemon that the fault affects.
    var faultyConninfo: String { conninfo + " application_name=\(Self.faultyName)" }

    /// Starts a relay to the database's server. Returns it, and the connection string that uses it.
    func relay() throws -> (relay: StallingRelay, conninfo: String) {
        let words = ConnectionWords(conninfo)
        let relay = try StallingRelay(to: try words.socket())
        return (relay, try words.conninfo(through: relay.port) + " application_name=\(Self.faultyName)")
    }

    /// Runs a script on a new connection by the simple protocol, which works with any defaults of the database.
    func administer(_ script: String) async throws {
        let session = try await connect()
        do {
            try await session.execute("SET default_transaction_read_only = off")
            // Runs the commands separately, because some of them can't run in a transaction with others.
            for command in script.split(separator: ";") { try await session.execute(String(command)) }
            await session.close()
        } catch {
            await session.close()
            throw error
        }
    }

    /// Opens a connection for the test.
    func connect() async throws -> PostgresSession {
        var configuration = PostgresConfiguration(conninfo: conninfo, applicationName: "test")
        configuration.connectTimeout = .seconds(20)
        return try await PostgresSession.connect(configuration)
    }

    /// Returns how many seconds the database's clock is ahead of the system's.
    func shift() async throws -> Double {
        try await sql("SELECT extract(epoch FROM shift)::float8 AS s FROM letsswitch.test_clock")[0].double("s")
    }

    /// Ends every connection of the daemons under the fault. Returns how many there were.
    @discardableResult
    func terminateConnections() async throws -> Int {
        try await sql(
            """
            SELECT count(pg_terminate_backend(pid)) AS n FROM pg_stat_activity
            WHERE application_name = '\(Self.faultyName)' AND datname = current_database()
            """)[0].integer("n")
    }
}

extension ClientEndpoint {
    /// Checks that the device's stream gets no further reminder: this registers a task, and only changes of the day may
    /// come before that change.
    func expectNoReminder(on stream: EventStreamTestClient, of device: String, in journey: Journey) async throws {
        let start = try await journey.instant(in: 86_400 * 2)
        try await register(device, start, "Later")
        while true {
            let event = try await stream.nextEvent()
            guard event.event == "schedule" else { throw ClientFailure.violation("one more: \(event.data)") }
            if try event.json()["startsAt"].string == "\(start)" { return }
        }
    }
}
