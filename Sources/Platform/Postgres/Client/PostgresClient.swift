/// A pool of connections to one database, shared by all callers.
///
/// Queries are pipelined: several are on their way on one connection, each in a transaction of its own, so that one that
/// fails leaves the others alone. Connections come when there is work, go when there is none, and come back by
/// themselves when the database was away. Nothing here waits on a thread; a query that was sent is never sent again, unless the
/// server says that it was rolled back because it met another.
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
    /// silent. A statement that deadlocks, or can't be serialized, is sent again, at most `maxRetries` times.
    package func query(
        _ statement: PostgresStatement, _ parameters: [PostgresParameter] = [], timeout: Duration? = nil
    ) async throws -> PostgresRows {
        let encoded = try EncodedParameters(parameters)
        let timeout = timeout ?? configuration.queryTimeout
        let deadline = ContinuousClock.now + timeout
        var retries = ConflictRetries(maximum: configuration.maxRetries, deadline: deadline)
        var left = timeout
        while true {
            do {
                return try await pool.query(statement, encoded, timeout: left)
            } catch let error as PostgresError {
                let pause = retries.pause(after: error, now: .now, random: .random(in: 0..<1))
                guard let pause else { throw error }
                try await Task.sleep(for: pause)
                left = deadline - .now
            }
        }
    }

    /// The pool's own queue, one thread at a time: for tasks that do little but query, which then change threads for none of it.
    package var executor: any TaskExecutor { pool.taskExecutor }

    /// Applies the migrations that the database lacks, in order, each in its own transaction, and makes its functions anew when
    /// their text has changed. Daemons that start together take turns. Refused when the database has a version that isn't among
    /// the schema's migrations, or functions that are too new for them.
    package func migrate(_ schema: PostgresSchema) async throws -> PostgresSchema.Change {
        try await Migrator(configuration: configuration, schema: schema).migrate()
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
