/// Receives the events of a client, for logs and metrics. Called on the pool's queue; must not block.
package protocol PostgresObserver: Sendable {
    /// Reports a query that ended after `duration`, including the wait for a connection.
    func query(name: String, duration: Duration, outcome: PostgresQueryOutcome)
    func connection(_ event: PostgresConnectionEvent, message: String)
}

package enum PostgresQueryOutcome: Sendable, Equatable {
    case succeeded
    case failed(PostgresError.Kind)
    /// The calling task was cancelled.
    case cancelled
}

package enum PostgresConnectionEvent: Sendable, Equatable {
    case opened
    /// An attempt to connect failed.
    case failed
    /// An open connection was lost.
    case lost
}

/// The counts of a pool at one moment.
package struct PostgresPoolCounts: Sendable, Equatable {
    /// Open connections.
    package var connections = 0
    /// Connections being opened.
    package var connecting = 0
    /// Closed connections that the server hasn't ended yet.
    package var ending = 0
    /// Queries that were sent and not answered.
    package var inFlight = 0
    /// Queries waiting for a connection.
    package var waiting = 0
}
