/// A pool of connections to one database, shared by all callers.
///
/// Queries are pipelined: several are on their way on one connection, each in a transaction of its own, so that one that
/// fails leaves the others alone. Connections come when there is work, go when there is none, and come back by
/// themselves when the database was away. Nothing here waits on a thread; a query that was sent is never sent again.
package final class PostgresClient: Sendable {
    private let configuration: PostgresConfiguration
    private let pool: Pool

    /// Connects at the first query, not before.
    package init(configuration: PostgresConfiguration, observer: (any PostgresObserver)? = nil) {
        self.configuration = configuration
        self.pool = Pool(configuration: configuration, observer: observer)
    }

    /// Runs a statement and returns its rows.
    ///
    /// Throws `PostgresError`, or `CancellationError` when the task is cancelled (the statement may then take effect
    /// nevertheless). Ends within `timeout` (`queryTimeout` by default), and within `stallTimeout` while the server is
    /// silent.
    package func query(
        _ statement: PostgresStatement, _ parameters: [PostgresParameter] = [], timeout: Duration? = nil
    ) async throws -> PostgresRows {
        let encoded = try EncodedParameters(parameters)
        return try await pool.query(statement, encoded, timeout: timeout ?? configuration.queryTimeout)
    }

    /// The pool's own queue, one thread at a time: for tasks that do little but query, which then change threads for none of it.
    package var executor: any TaskExecutor { pool.taskExecutor }

    /// Applies the migrations that the database lacks, in order, each in its own transaction, and returns their
    /// versions. Daemons that start together take turns. Refused when the database has a version that isn't among
    /// `migrations`.
    package func migrate(_ migrations: [PostgresMigration]) async throws -> [Int] {
        try await Migrator(configuration: configuration).migrate(migrations)
    }

    /// The pool now, for metrics.
    package func counts() async -> PostgresPoolCounts {
        await pool.counts()
    }

    /// Refuses further queries, lets those in flight finish (for `shutdownTimeout` at most), and closes all connections.
    package func shutdown() async {
        await pool.shutdown()
    }
}
