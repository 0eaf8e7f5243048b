import JourneyTestSupport
import Postgres
import TestSupport

/// Tools for faults.
extension Journey {
    /// The name of the daemons' connections in `pg_stat_activity`, to distinguish them from the test's.
    static let faultyName = "daemon"

    /// The database's conninfo for a daemon that the fault is to hit.
    var faultyConninfo: String { conninfo + " application_name=\(Self.faultyName)" }

    /// A relay to the database's server, and the conninfo that leads through it.
    func relay() throws -> (relay: StallingRelay, conninfo: String) {
        let words = conninfo.split(separator: " ").map { $0.split(separator: "=", maxSplits: 1) }
        func value(_ keyword: Substring) throws -> String {
            guard let word = words.last(where: { $0.first == keyword && $0.count == 2 }) else {
                throw ClientFailure.misuse("no \(keyword) in \(conninfo)")
            }
            return word[1].filter { $0 != "'" }
        }
        let relay = try StallingRelay(to: .unix(path: "\(try value("host"))/.s.PGSQL.\(try value("port"))"))
        return (
            relay,
            """
            host=127.0.0.1 port=\(relay.port) user=\(try value("user")) dbname=\(try value("dbname")) \
            sslmode=disable gssencmode=disable application_name=\(Self.faultyName)
            """
        )
    }

    /// Runs a script on a connection of its own, by the simple protocol, whatever the database's defaults are.
    func administer(_ script: String) async throws {
        let session = try await connect()
        do {
            try await session.execute("SET default_transaction_read_only = off")
            // Not together: some of these commands take no company.
            for command in script.split(separator: ";") { try await session.execute(String(command)) }
            await session.close()
        } catch {
            await session.close()
            throw error
        }
    }

    /// A connection of the test's own.
    func connect() async throws -> PostgresSession {
        var configuration = PostgresConfiguration(conninfo: conninfo, applicationName: "test")
        configuration.connectTimeout = .seconds(20)
        return try await PostgresSession.connect(configuration)
    }

    /// How many seconds the database's clock is ahead of the system's.
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
    /// Nothing that has happened so far brings the device's stream another reminder: what comes next is a change of its day that
    /// this makes.
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
