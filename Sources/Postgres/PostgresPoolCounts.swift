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
