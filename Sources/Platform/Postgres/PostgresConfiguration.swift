import CLibpq

/// The database to use, and the limits of its use.
package struct PostgresConfiguration: Sendable, Hashable {
    /// A URL or a keyword string for libpq. If it is empty, libpq's own `PG*` variables name the database.
    package var conninfo: String
    /// The name in `pg_stat_activity`, unless `conninfo` contains another one.
    package var applicationName: String
    /// Additional settings of every session, as `SET` accepts them, for example for the planner.
    package var sessionSettings: [String: String] = [:]

    /// Connections of the pool at most, counted until the server has ended them: ``endPatience`` says what else it may have.
    package var maxConnections = 8
    /// The number of connections that may have queries of one ``Requester`` at the same time. So one client's slow queries leave connections
    /// to other clients. `nil` sets no limit, and requesters don't take turns.
    package var maxConnectionsPerRequester: Int?
    /// Queries sent on a connection and not yet answered, at most.
    package var maxPipelined = 32
    /// The maximum number of queries that wait for a connection. Further ones fail at once.
    package var maxWaiters = 10_000

    /// How long a query waits for a silent server: for a connection while all connections are silent, or for its answer
    /// while its own connection is silent. If the server answers other queries, a query may wait up to `queryTimeout`.
    package var stallTimeout: Duration = .milliseconds(1500)
    /// The maximum time of a query, including the wait, unless the query has its own limit. A connection whose query
    /// exceeds it is given up.
    package var queryTimeout: Duration = .seconds(10)
    /// The maximum time for opening a connection.
    package var connectTimeout: Duration = .seconds(2)
    /// How long the pool waits for the server to end a connection that was given up, before it opens another one. On a
    /// lost network the end is never reported. The pool may then have one connection more than its maximum.
    package var endPatience: Duration = .seconds(1)
    /// The server's own limit for a query is longer by this time. It ends a query that our cancel request can't end.
    package var serverMargin: Duration = .seconds(1)
    /// The maximum number of repetitions of a query that was aborted by a conflict: a deadlock, or a serialization
    /// failure.
    package var maxRetries = 4
    /// The server's limit for a statement of a single session. A pool's queries use `queryTimeout` and `serverMargin`.
    package var statementTimeout: Duration = .seconds(120)
    /// The maximum time of a migration, including the wait for another daemon's migrations.
    package var migrationTimeout: Duration = .seconds(600)
    /// How long `shutdown` waits for queries in flight.
    package var shutdownTimeout: Duration = .seconds(5)

    /// The time after which an idle connection is closed. The last connection stays open.
    package var idleTimeout: Duration = .seconds(60)
    /// The maximum age of a connection. Server processes keep the time zone rules that they read at their start.
    package var maxAge: Duration = .seconds(3600)
    /// The maximum random time by which a connection ends earlier, so that connections opened together don't end
    /// together.
    package var maxAgeJitter: Duration = .seconds(600)
    /// Whether the pool keeps one connection open even without queries, once it had one.
    package var keepAlive = false

    /// The wait before the second attempt to connect; it doubles with each failure.
    package var minBackoff: Duration = .milliseconds(50)
    package var maxBackoff: Duration = .seconds(1)

    /// The listener's maximum wait between attempts to connect.
    package var listenerMaxBackoff: Duration = .seconds(1)
    /// The interval at which the listener checks its connection with a query.
    package var heartbeatInterval: Duration = .seconds(15)
    /// How long the listener waits for the answer to its heartbeat query.
    package var heartbeatTimeout: Duration = .seconds(5)

    package init(conninfo: String, applicationName: String = "") {
        self.conninfo = conninfo
        self.applicationName = applicationName
    }
}

/// The libpq that this process runs with, which may be newer than the one it was built against.
package enum LibpqVersion {
    /// Such as `15.18`.
    package static var current: String { text(Int(PQlibVersion())) }

    /// Major and minor version of `PQlibVersion()`'s number: 150018 is 15.18.
    static func text(_ number: Int) -> String { "\(number / 10_000).\(number % 10_000)" }
}
