import Basics

/// Finds connection poolers in transaction mode, such as PgBouncer with `pool_mode = transaction`.
///
/// Such a pooler gives each transaction of a session any free server process. Effects of LISTEN, session settings and
/// advisory locks then belong to a process that other clients use too, and notifications are lost.
package enum PoolerProbe {
    /// Opens two sessions, and checks that each keeps its own process and receives notifications. The result doesn't
    /// depend on a time limit: on a direct connection, PostgreSQL sends a notification before its next answer.
    ///
    /// - Parameter limit: The maximum time of each statement.
    /// - Throws: ``TransactionPoolerError``; ``PostgresError`` if the database doesn't answer.
    package static func run(_ configuration: PostgresConfiguration, limit: Duration = .seconds(10)) async throws {
        // A pooler may keep a server process that still listens to this channel after the probe. The name is random, so
        // no other code sends notifications to the channel.
        let channel = "probe_\(UInt64.random(in: 0...UInt64.max))"
        let isNotified = Locked(false)
        let listener = try await PostgresSession.connect(
            configuration, executor: QueueExecutor(label: "postgres.probe")
        ) { name, _ in
            if name == channel { isNotified.withLock { $0 = true } }
        }
        let keepsProcess = try await closing(listener) { listener in
            let process = try await processID(listener, "LISTEN \(channel)", limit)
            return try await closing(try await PostgresSession.connect(configuration)) { notifier in
                // The transaction stays open, so a pooler has to give the other session another process.
                guard try await processID(notifier, "BEGIN", limit) != process,
                    try await processID(listener, "", limit) == process
                else { return false }
                try await notifier.execute("SELECT pg_notify('\(channel)', ''); COMMIT", timeout: limit)
                return try await processID(listener, "", limit) == process && isNotified.withLock { $0 }
            }
        }
        guard keepsProcess else { throw TransactionPoolerError() }
    }

    /// Runs a command, and returns the id of the server process that ran it.
    private static func processID(
        _ session: PostgresSession, _ command: String, _ limit: Duration
    ) async throws -> Int? {
        try await session.execute("\(command); SELECT pg_backend_pid() AS pid", timeout: limit)?.first?.integer("pid")
    }

    /// Runs `body`, and closes the session even if `body` throws.
    private static func closing(
        _ session: PostgresSession, _ body: (PostgresSession) async throws -> Bool
    ) async throws -> Bool {
        do {
            let result = try await body(session)
            await session.close()
            return result
        } catch {
            await session.close()
            throw error
        }
    }
}

/// The error that a pooler in transaction mode is between this program and PostgreSQL.
package struct TransactionPoolerError: Error, Sendable, CustomStringConvertible {
    package let description = """
        a connection pooler in transaction mode is between the daemon and PostgreSQL, so LISTEN doesn't work and no reminder \
        would be sent: connect to PostgreSQL directly, or set the pooler to session mode (PgBouncer: pool_mode = session)
        """
}
