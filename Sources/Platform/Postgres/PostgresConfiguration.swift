import CLibpq

/// Which database, and the limits of using it.
package struct PostgresConfiguration: Sendable, Hashable {
    /// A URL or a keyword string as libpq takes it. Empty: libpq's own `PG*` variables say where.
    package var conninfo: String
    /// Shown in `pg_stat_activity`, unless `conninfo` names another.
    package var applicationName: String
    /// Settings of every session beyond this target's own, as `SET` takes them: for the planner, say.
    package var sessionSettings: [String: String] = [:]

    /// Connections of the pool at most, counted until the server has ended them: ``endPatience`` says what else it may have.
    package var maxConnections = 8
    /// Queries sent on a connection and not yet answered, at most.
    package var maxPipelined = 32
    /// Queries waiting for a connection at most; beyond, they fail at once.
    package var maxWaiters = 10_000

    /// How long a query waits while the server is silent: for a connection while none of the pool's hears anything, for its
    /// answer while its own hears none. What moves on, however long the queue, may take up to `queryTimeout`.
    package var stallTimeout: Duration = .milliseconds(1500)
    /// How long a query may take, waiting included, unless it says otherwise. A connection that lets one exceed it is given up.
    package var queryTimeout: Duration = .seconds(10)
    /// How long opening a connection may take, until it can be used.
    package var connectTimeout: Duration = .seconds(2)
    /// How long a place waits for the server to end the connection that had it. A network that is gone never tells: then the
    /// pool has one connection more, and never more than that one.
    package var endPatience: Duration = .seconds(1)
    /// So much longer than a query's time is the server's own limit for it, which ends what our cancel request can't.
    package var serverMargin: Duration = .seconds(1)
    /// How often a query that was given up because it met another (a deadlock, a conflict of snapshots) is sent again at most.
    package var maxRetries = 4
    /// The server's own limit for a statement of a session. A pool's queries have theirs: `queryTimeout` and `serverMargin`.
    package var statementTimeout: Duration = .seconds(120)
    /// How long a migration may take, and waiting for another daemon's migrations.
    package var migrationTimeout: Duration = .seconds(600)
    /// How long `shutdown` waits for queries in flight.
    package var shutdownTimeout: Duration = .seconds(5)

    /// A connection without work for so long is closed, the last one excepted.
    package var idleTimeout: Duration = .seconds(60)
    /// A connection's age at most: live backends keep the time zone rules they started with.
    package var maxAge: Duration = .seconds(3600)
    /// Up to so much earlier, so that connections opened together don't end together.
    package var maxAgeJitter: Duration = .seconds(600)
    /// Keep one connection up, once there has been one, also while nobody asks.
    package var keepAlive = false

    /// The wait before the second attempt to connect; it doubles with each failure.
    package var minBackoff: Duration = .milliseconds(50)
    package var maxBackoff: Duration = .seconds(1)

    /// The listener's longest wait between attempts.
    package var listenerMaxBackoff: Duration = .seconds(1)
    /// How often the listener asks the database whether it is still there.
    package var heartbeatInterval: Duration = .seconds(15)
    /// How long it waits for the answer.
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
