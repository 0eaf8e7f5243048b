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

    /// Descriptors that clients' connections leave: the database's (requests', two pools of two, LISTEN's, the bus's two), the providers', the
    /// bridge's, listeners', files'.
    package var reservedDescriptors: Int {
        64 + postgres.maxConnections + 7 + providers.descriptors + (amqpURL == nil ? 0 : 2)
    }
}
