import Postgres

/// Access of the benchmark itself to the database. Each access uses a new session.
extension Laboratory {
    /// Creates another database on the cluster and returns its conninfo.
    func makeDatabase(_ name: String) throws -> String {
        try execute(["CREATE DATABASE \(name)"], timeout: .seconds(10))
        return "\(conninfo) dbname=\(name)"
    }

    /// Runs scripts one after the other in one session.
    ///
    /// - Parameter timeout: The time limit of each script.
    func execute(_ scripts: [String], timeout: Duration) throws {
        try session { session in
            for script in scripts { try await session.execute(script, timeout: timeout) }
        }
    }

    func query(_ sql: String, timeout: Duration) throws -> PostgresRows {
        guard let rows = try session({ try await $0.execute(sql, timeout: timeout) }) else {
            throw BenchFailure("no rows")
        }
        return rows
    }

    /// Runs `work` in a session with these settings, and waits for it. Then the session ends.
    func session<Value: Sendable>(
        with settings: [String: String] = [:], _ work: @escaping @Sendable (PostgresSession) async throws -> Value
    ) throws -> Value {
        var configuration = PostgresConfiguration(conninfo: conninfo)
        configuration.sessionSettings = settings
        return try Blocking.wait { [configuration] in
            let session = try await PostgresSession.connect(configuration)
            do {
                let value = try await work(session)
                await session.close()
                return value
            } catch {
                await session.close()
                throw error
            }
        }
    }
}
