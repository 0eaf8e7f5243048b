import CLibpq

/// The database to use, and limits for its use.
package struct PostgresConfiguration: Sendable, Hashable {
    /// A URL or a keyword string for libpq. If it is empty, libpq's own `PG*` variables determine the database.
    package var conninfo: String
    /// The name in `pg_stat_activity`, unless `conninfo` contains another one.
    package var applicationName: String
    /// Additional settings of every session, as `SET` accepts them, for example for the planner.
    package var sessionSettings: [String: String] = [:]

    /// The maximum number of connections of the pool. A connection counts until the server has ended it.
    /// ``endPatience`` describes an exception.
    package var maxConnections = 8
    /// The maximum number of connections that may have queries of one ``Requester`` at the same time. Slow queries of
    /// one client then leave connections to other clients. `nil` sets no limit, and requesters don't take turns.
    package var maxConnectionsPerRequester: Int?
    /// The maximum number of queries in flight on one connection.
    package var maxPipelined = 32
    /// The maximum number of queries that wait for a connection. Further queries fail at once.
    package var maxWaiters = 10_000

    /// The time after which a query fails because the server sends nothing. A query in flight fails if its own
    /// connection is silent for this time. A query that waits for a connection fails if all connections are silent. If
    /// the server answers other queries, a query may wait up to `queryTimeout`.
    package var stallTimeout: Duration = .milliseconds(1500)
    /// The maximum time of a query, including its wait, unless the query has its own limit. If a query exceeds it, its
    /// connection is closed.
    package var queryTimeout: Duration = .seconds(10)
    /// The maximum time for opening a connection.
    package var connectTimeout: Duration = .seconds(2)
    /// The time that the pool waits for the server to end a closed connection, before it opens another one. On a lost
    /// network, the end is never reported. The pool may then have one connection more than its maximum.
    package var endPatience: Duration = .seconds(1)
    /// The time by which the server's own limit for a query is longer. The server's limit ends queries that can't be
    /// cancelled.
    package var serverMargin: Duration = .seconds(1)
    /// The maximum number of times that a query is sent again after a conflict: a deadlock or a serialization failure.
    package var maxRetries = 4
    /// The server's time limit for a statement on a connection that isn't in a pool. In a pool, `queryTimeout` and
    /// `serverMargin` set the limit.
    package var statementTimeout: Duration = .seconds(120)
    /// The maximum time of a migration, including the wait for another daemon's migrations.
    package var migrationTimeout: Duration = .seconds(600)
    /// The time that `shutdown` waits for queries in flight.
    package var shutdownTimeout: Duration = .seconds(5)

    /// The time after which an idle connection is closed. The last connection stays open.
    package var idleTimeout: Duration = .seconds(60)
    /// The maximum age of a connection. A server process keeps the time zone rules that it read at its start, so it
    /// must be replaced at times.
    package var maxAge: Duration = .seconds(3600)
    /// The maximum random time by which a connection is closed earlier. Connections that were opened together are then
    /// closed at different times.
    package var maxAgeJitter: Duration = .seconds(600)
    /// Whether the pool keeps one connection open without queries, after its first connection.
    package var keepAlive = false

    /// The wait before the second attempt to connect. It doubles with each failure.
    package var minBackoff: Duration = .milliseconds(50)
    package var maxBackoff: Duration = .seconds(1)

    /// The listener's maximum wait between attempts to connect.
    package var listenerMaxBackoff: Duration = .seconds(1)
    /// The interval at which the listener checks its connection with a query.
    package var heartbeatInterval: Duration = .seconds(15)
    /// The time limit for the answer to the listener's heartbeat query.
    package var heartbeatTimeout: Duration = .seconds(5)

    package init(conninfo: String, applicationName: String = "") {
        self.conninfo = conninfo
        self.applicationName = applicationName
    }
}

/// The version of libpq in this process, which may be newer than at build time.
package enum LibpqVersion {
    /// The version, such as `15.18`.
    package static var current: String { text(Int(PQlibVersion())) }

    /// Returns the major and minor version of a number of `PQlibVersion()`: 150018 is 15.18.
    static func text(_ number: Int) -> String { "\(number / 10_000).\(number % 10_000)" }
}
