/// Told what happens in a client, for logs and metrics. Called on the pool's queue: must not block.
package protocol PostgresObserver: Sendable {
    /// A query ended after `duration`, waiting for a connection included.
    func query(name: String, duration: Duration, outcome: PostgresQueryOutcome)
    func connection(_ event: PostgresConnectionEvent, message: String)
}

package enum PostgresQueryOutcome: Sendable, Equatable {
    case succeeded
    case failed(PostgresError.Kind)
    /// The task that asked was cancelled.
    case cancelled
}

package enum PostgresConnectionEvent: Sendable, Equatable {
    case opened
    /// An attempt to connect failed.
    case failed
    /// A connection that was up ended, and not by our will.
    case lost
}

/// A pool at one moment.
package struct PostgresPoolCounts: Sendable, Equatable {
    /// Connections that are up.
    package var connections = 0
    /// Connections being opened.
    package var connecting = 0
    /// Connections that were hung up, and that the server hasn't ended yet.
    package var ending = 0
    /// Queries sent and not yet answered.
    package var inFlight = 0
    /// Queries waiting for a connection.
    package var waiting = 0
}
