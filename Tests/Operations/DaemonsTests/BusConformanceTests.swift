import Postgres
import Rooms
import TestSupport
import Testing

@testable import Daemons

/// The default bus keeps the promises of every bus.
@Suite struct BusConformanceTests {
    @Test("PostgreSQL's NOTIFY passes the conformance tests of a bus", arguments: BusConformance.Guarantee.allCases)
    func notify(_ guarantee: BusConformance.Guarantee) async throws {
        try await BusConformance(on: try await NotifyMedium()).check(guarantee)
    }
}

/// A database that can be made unavailable through a relay. The server itself stays up, because other tests use it.
private struct NotifyMedium: BusMedium {
    let relay: StallingRelay
    let conninfo: String

    init() async throws {
        let words = try await TestCluster.shared.makeDatabase().split(separator: " ")
        func value(_ keyword: String) throws -> String {
            // libpq uses the last value of a repeated keyword.
            let word = try #require(words.last { $0.hasPrefix("\(keyword)=") }, "no \(keyword)")
            return word.dropFirst(keyword.count + 1).filter { $0 != "'" }
        }
        relay = try StallingRelay(to: .unix(path: "\(try value("host"))/.s.PGSQL.\(try value("port"))"))
        conninfo = """
            host=127.0.0.1 port=\(relay.port) user=\(try value("user")) dbname=\(try value("dbname")) \
            sslmode=disable gssencmode=disable
            """
    }

    func makeBus(_ id: DaemonID) async throws -> any Bus {
        var configuration = PostgresConfiguration(conninfo: conninfo, applicationName: "test")
        configuration.connectTimeout = .seconds(20)
        // A long limit, so that no packet is lost because the machine is slow.
        return NotifyBus(id, configuration, patience: .seconds(10) * TimeAllowance.factor)
    }

    /// Ends all connections. New ones are accepted, but receive nothing.
    func cut() async throws {
        relay.stall()
        relay.drop()
    }

    func heal() async throws { relay.resume() }

    func end() async { relay.close() }
}
