import Delivery
package import Postgres

extension Configuration {
    /// The pool for requests.
    package func postgres(conninfo: String) -> PostgresConfiguration {
        var postgres = postgres
        postgres.conninfo = conninfo
        // Less than a request waits, so that it lives to see the connection that comes instead.
        postgres.endPatience = postgres.stallTimeout * 2 / 3
        return postgres
    }

    /// Where a daemon that runs hears operators' commands.
    package var controlSocket: String { "\(stateDirectory)/control.sock" }

    /// Connections of each pool beside the requests': the scheduler's, its claims', the deliveries'.
    package static let connectionsPerPool = 2
    /// Of the pool for deliveries that aren't urgent.
    package static let connectionsOfOtherDeliveries = 1
    /// Connections to the database beside the requests': those four pools, LISTEN's; a bus by NOTIFY takes two more.
    package static let connectionsBesideRequests = 3 * connectionsPerPool + connectionsOfOtherDeliveries + 1
    package static let connectionsOfNotify = 2

    /// Descriptors that clients' connections leave: the database's, the providers', the bridge's, listeners', files'.
    package var reservedDescriptors: Int {
        64 + postgres.maxConnections + Self.connectionsBesideRequests + Self.connectionsOfNotify + providers.descriptors
            + (amqpURL == nil ? 0 : 2)
    }
}

extension ClusterNames {
    /// The daemon's private cluster.
    package static let product = ClusterNames(program: "letsswitch")
}
