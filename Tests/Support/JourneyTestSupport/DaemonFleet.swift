import Foundation
package import TestSupport

/// Several daemon processes on one database that know of each other.
package struct DaemonFleet {
    package struct Member {
        package let process: DaemonProcess
        package let endpoint: ClientEndpoint
    }

    package private(set) var members: [Member] = []

    /// Creates a fleet without daemons.
    package init() {}

    package var endpoints: [ClientEndpoint] { members.map(\.endpoint) }

    /// Starts `count` daemons with open rooms. Returns when each knows all others.
    package static func start(
        _ count: Int, in journey: Journey, database: String? = nil, _ arguments: [String] = []
    ) async throws -> DaemonFleet {
        var fleet = DaemonFleet()
        for _ in 0..<count { try await fleet.add(in: journey, database: database, arguments) }
        try await fleet.waitUntilTogether()
        return fleet
    }

    /// Starts another daemon. Others may not know it yet when this returns.
    package mutating func add(in journey: Journey, database: String? = nil, _ arguments: [String] = []) async throws {
        let (process, endpoint) = try await DaemonProcess.listening(
            [
                "--listen", "127.0.0.1:0", "--database-url", database ?? journey.conninfo, "--close-timeout", "0.2s",
                "--open-rooms", "--loops", "2", "--database-connections", "4",
            ] + arguments)
        members.append(Member(process: process, endpoint: endpoint))
    }

    package subscript(index: Int) -> Member { members[index] }

    /// Returns when each of these daemons, or each of all, knows the others and its bus is connected.
    package func waitUntilTogether(_ some: [Int]? = nil) async throws {
        let together = some ?? Array(members.indices)
        for index in together { try await Self.wait(at: members[index].endpoint, others: together.count - 1) }
    }

    /// Returns when the daemon knows `others` other daemons and its bus is connected.
    package static func wait(at endpoint: ClientEndpoint, others: Int) async throws {
        _ = try await MetricsReading.wait(at: endpoint) { metrics in
            Int(metrics.sum("letsswitch_bus_daemons")) == others
                && (others == 0 || metrics.sum("letsswitch_bus_connected") == 1)
        }
    }

    /// Returns the number of ales that the daemon dropped because the bus was unavailable.
    package func dropped(at index: Int) async throws -> Int {
        Int(try await MetricsReading(members[index].endpoint).sum("letsswitch_bus_dropped_total"))
    }

    /// Returns the number of ales that the daemon knows it has missed.
    package func lost(at index: Int) async throws -> Int {
        Int(try await MetricsReading(members[index].endpoint).sum("letsswitch_bus_lost_total"))
    }
}

extension MetricsReading {
    /// Returns the sum of a metric over all labels.
    package func sum(_ name: String) -> Double {
        samples.reduce(0) { $1.key.prefix { $0 != "{" } == name ? $0 + $1.value : $0 }
    }
}
