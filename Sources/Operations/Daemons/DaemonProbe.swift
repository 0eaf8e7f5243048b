import Basics
package import Postgres

/// Lists the live daemons of a database.
package enum DaemonProbe {
    package enum Outcome {
        case alive([DaemonReport])
        /// No daemon has used the database.
        case noneYet
        case fails(String)
    }

    /// The SQLSTATE of a missing table. A missing schema has the same.
    private static let undefinedTable = "42P01"

    /// - Parameter limit: The maximum time to wait for the database.
    package static func run(_ configuration: PostgresConfiguration, within limit: Duration) async -> Outcome {
        var configuration = configuration
        configuration.maxConnections = 1
        configuration.stallTimeout = limit
        let client = PostgresClient(configuration: configuration)
        let outcome = await ask(DaemonStore(database: client))
        await client.shutdown()
        return outcome
    }

    private static func ask(_ store: DaemonStore) async -> Outcome {
        do {
            return .alive(try await store.alive())
        } catch let error as PostgresError where error.kind == .server(sqlState: undefinedTable) {
            return .noneYet
        } catch {
            return .fails("\(error)")
        }
    }
}

extension DaemonReport {
    /// The state of the daemon's bus in words.
    package var standing: String {
        let behind = bus.delay.map { ", \($0.wholeMilliseconds) ms round trip" } ?? ""
        return """
            its bus is \(bus.isConnected ? "connected" : "disconnected or not needed")\(behind); \
            cheers lost: \(bus.lost), not sent: \(bus.dropped)
            """
    }
}
