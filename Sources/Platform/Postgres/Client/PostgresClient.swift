import Basics

/// A pool of connections to one database, shared by all callers.
///
/// Queries are pipelined: several are in flight on one connection. Each is its own transaction, so a failure doesn't
/// affect the others. The pool opens connections when there is work, closes idle ones, and reconnects after an outage.
/// No thread waits. A query that was sent is never sent again, unless the server reports that it was rolled back
/// because of a conflict.
package final class PostgresClient: Sendable {
    private let configuration: PostgresConfiguration
    private let pool: Pool

    /// Creates a client. It connects when the first query is run.
    package init(configuration: PostgresConfiguration, observer: (any PostgresObserver)? = nil) {
        self.configuration = configuration
        self.pool = Pool(configuration: configuration, observer: observer)
    }

    /// Runs a statement and returns its rows.
    ///
    /// Throws `PostgresError`, or `CancellationError` if the task is cancelled. The statement may nevertheless take
    /// effect. Ends within `timeout` (`queryTimeout` by default), and within `stallTimeout` while the server sends
    /// nothing. After a deadlock or a serialization failure the statement is sent again, at most `maxRetries` times.
    package func query(
        _ statement: PostgresStatement, _ parameters: [PostgresParameter] = [], timeout: Duration? = nil
    ) async throws -> PostgresRows {
        let encoded = try EncodedParameters(parameters)
        let timeout = timeout ?? configuration.queryTimeout
        let deadline = ContinuousClock.now + timeout
        var retries = ConflictRetries(maximum: configuration.maxRetries, deadline: deadline)
        var left = timeout
        let owner = configuration.maxConnectionsPerRequester == nil ? nil : Requester.current?.network
        while true {
            do {
                return try await pool.query(statement, encoded, timeout: left, owner: owner)
            } catch let error as PostgresError {
                let pause = retries.pause(after: error, now: .now, random: .random(in: 0..<1))
                guard let pause else { throw error }
                try await Task.sleep(for: pause)
                left = deadline - .now
            }
        }
    }

    /// The pool's queue as an executor. Tasks that mostly send queries can run on it without switching threads.
    package var executor: any TaskExecutor { pool.taskExecutor }

    /// Checks that a session always uses the same server process.
    ///
    /// - Throws: ``TransactionPoolerError`` if a connection pooler changes the process; ``PostgresError``.
    package func checkSessions() async throws {
        try await PoolerProbe.run(configuration)
    }

    /// Applies the missing migrations in order, each in its own transaction. Replaces the functions if their text has
    /// changed. If several daemons start together, they take turns.
    ///
    /// - Throws: ``UnusableSchemaError`` if the database has a migration that `schema` doesn't have, or functions that
    ///   are too new; ``PostgresError``.
    package func migrate(_ schema: PostgresSchema) async throws -> PostgresSchema.Change {
        try await Migrator(configuration: configuration, schema: schema).migrate()
    }

    /// Returns the pool's current counts, for metrics.
    package func counts() async -> PostgresPoolCounts {
        await pool.counts()
    }

    /// Refuses further queries, waits up to `shutdownTimeout` for queries in flight, and closes all connections.
    package func shutdown() async {
        await pool.shutdown()
    }
}
