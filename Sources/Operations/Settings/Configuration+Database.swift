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
        // Shorter than a request's maximum wait, so that the request can use the connection that replaces a lost one.
        postgres.endPatience = postgres.stallTimeout * 2 / 3
        return postgres
    }

    /// The path of the Unix socket for operators' commands.
    package var controlSocket: String { "\(stateDirectory)/control.sock" }

    /// The number of connections of each further pool: for the scheduler, for its claims, and for deliveries.
    package static let connectionsPerPool = 2
    /// The number of connections of the pool for deliveries that aren't urgent.
    package static let connectionsOfOtherDeliveries = 1
    /// The number of database connections in addition to those for requests: four pools and one connection for LISTEN.
    /// A bus through NOTIFY adds two.
    package static let connectionsBesideRequests = 3 * connectionsPerPool + connectionsOfOtherDeliveries + 1
    package static let connectionsOfNotify = 2

    /// The number of file descriptors that aren't available for clients. The database, providers, the bridge, listeners
    /// and files use them.
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
