import Conversations
package import Domain
import Notifications
package import Postgres
import Schedule

extension Configuration {
    /// Returns the configuration of the connection pool for requests.
    package func postgres(conninfo: String) -> PostgresConfiguration {
        var postgres = postgres
        postgres.conninfo = conninfo
        // Shorter than the wait of a request, so that the request can use the connection that replaces this one.
        postgres.endPatience = postgres.stallTimeout * 2 / 3
        return postgres
    }

    /// The path of the Unix socket for operators' commands.
    package var controlSocket: String { "\(stateDirectory)/control.sock" }

    /// The connections of each further pool: the scheduler, its claims, and deliveries.
    package static let connectionsPerPool = 2
    /// The connections of the pool for deliveries that aren't urgent.
    package static let connectionsOfOtherDeliveries = 1
    /// The database connections in addition to those for requests: four pools and one for LISTEN. A bus through NOTIFY
    /// adds two.
    package static let connectionsBesideRequests = 3 * connectionsPerPool + connectionsOfOtherDeliveries + 1
    package static let connectionsOfNotify = 2

    /// The file descriptors that aren't available for clients: those of the database, providers, bridge, listeners and
    /// files.
    package var reservedDescriptors: Int {
        64 + postgres.maxConnections + Self.connectionsBesideRequests + Self.connectionsOfNotify + providers.descriptors
            + (amqpURL == nil ? 0 : 2)
    }

    /// The limits of stored rows, with the times after which rows are deleted.
    package var storageLimits: StorageLimits {
        var limits = storage
        limits.taskRetention = schedule.horizon + schedule.retention
        limits.sessionRetention = schedule.retention
        limits.historyRetention = conversations.retention
        return limits
    }
}

extension ClusterNames {
    /// The names of the daemon's private cluster.
    package static let product = ClusterNames(program: "letsswitch")
}
