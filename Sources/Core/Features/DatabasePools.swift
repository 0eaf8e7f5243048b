package import Postgres

/// The connection pools of the daemon.
///
/// Claims have a pool of their own, so that neither a flood of requests nor a hanging statement of the scheduler delays
/// a reminder.
package struct DatabasePools: Sendable {
    private static let claimEndPatience = Duration.milliseconds(250)

    /// The pool for requests.
    package let requests: PostgresClient
    /// The pool for the scheduler's claims.
    package let claims: PostgresClient
    /// The pool for the scheduler's statements that aren't claims, for acknowledgements and for notifications.
    package let background: PostgresClient
    /// The pool for delivery workers and the bridge. Much work there doesn't delay the scheduler's claims.
    package let deliveries: PostgresClient
    /// The pool for leases of deliveries that aren't urgent. A hanging lease doesn't delay reminders.
    package let otherDeliveries: PostgresClient

    /// - Parameters:
    ///   - configuration: The settings of the pool for requests. The other pools are derived from it.
    ///   - connectionsPerPool: The maximum number of connections of each further pool.
    ///   - connectionsOfOtherDeliveries: The maximum number of connections of ``otherDeliveries``.
    ///   - claimer: The identity of this process in its claims, for the setting `letsswitch.claimer`.
    package init(
        _ configuration: PostgresConfiguration, connectionsPerPool: Int, connectionsOfOtherDeliveries: Int,
        claimer: String, observer: any PostgresObserver
    ) {
        var fair = configuration
        fair.maxConnectionsPerRequester = max(1, configuration.maxConnections * 3 / 4)
        requests = PostgresClient(configuration: fair, observer: observer)
        var few = configuration
        few.maxConnections = connectionsPerPool
        background = PostgresClient(configuration: few, observer: observer)
        var claiming = few
        // A replacement for dead connections opens soon, because a reminder waits for it.
        claiming.endPatience = Self.claimEndPatience
        claiming.sessionSettings["letsswitch.claimer"] = "'\(claimer)'"
        claims = PostgresClient(configuration: claiming, observer: observer)
        deliveries = PostgresClient(configuration: few, observer: observer)
        var single = few
        single.maxConnections = connectionsOfOtherDeliveries
        otherDeliveries = PostgresClient(configuration: single, observer: observer)
    }

    /// The executor for tasks that mostly wait for requests' queries.
    package var executor: any TaskExecutor { requests.executor }

    /// Returns the connections of all pools, for metrics.
    package func counts() async -> PostgresPoolCounts {
        var sum = await requests.counts()
        for client in all.dropFirst() {
            let other = await client.counts()
            sum.connections += other.connections
            sum.connecting += other.connecting
            sum.ending += other.ending
            sum.inFlight += other.inFlight
            sum.waiting += other.waiting
        }
        return sum
    }

    package func shutdown() async {
        for client in all { await client.shutdown() }
    }

    private var all: [PostgresClient] { [requests, claims, background, deliveries, otherDeliveries] }
}
