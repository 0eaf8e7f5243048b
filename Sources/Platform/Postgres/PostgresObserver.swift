/// Receives the events of a client, for logs and metrics. The methods are called on the pool's queue and must not
/// block.
package protocol PostgresObserver: Sendable {
    /// Reports a query that ended after `duration`, including the wait for a connection.
    func query(name: String, duration: Duration, outcome: PostgresQueryOutcome)
    func connection(_ event: PostgresConnectionEvent, message: String)
}

package enum PostgresQueryOutcome: Sendable, Equatable {
    case succeeded
    case failed(PostgresError.Kind)
    /// The caller's task was cancelled.
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
    /// The number of open connections.
    package var connections = 0
    /// The number of connections that are being opened.
    package var connecting = 0
    /// The number of connections that the pool has closed and the server hasn't ended yet.
    package var ending = 0
    /// The number of queries that were sent and not answered yet.
    package var inFlight = 0
    /// The number of queries that wait for a connection.
    package var waiting = 0
}
