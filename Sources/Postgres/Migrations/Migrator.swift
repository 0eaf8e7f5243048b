/// Brings a database's schema up to date, one daemon at a time (an advisory lock), each step in its own transaction.
struct Migrator {
    /// "letsswit" in ASCII: the key of the advisory lock.
    private static let lockKey: Int64 = 0x6C65_7473_7377_6974

    private static let lockPause = Duration.milliseconds(100)

    let configuration: PostgresConfiguration

    /// The versions applied now.
    func migrate(_ migrations: [PostgresMigration]) async throws -> [Int] {
        let session = try await PostgresSession.connect(configuration)
        do {
            // The lock goes with the session.
            let applied = try await migrate(migrations, session)
            await session.close()
            return applied
        } catch {
            await session.close()
            throw error
        }
    }

    private func migrate(_ migrations: [PostgresMigration], _ session: PostgresSession) async throws -> [Int] {
        let timeout = configuration.migrationTimeout
        // The session's own limits: a migration may take its time, and so may another daemon's.
        try await session.execute("SET statement_timeout = 0")
        try await lock(session)
        try await createTable(session)
        let rows = try await session.execute("SELECT version FROM letsswitch.migration")
        let versions = try rows?.map { try $0.integer("version") } ?? []
        let plan = try MigrationPlan(known: migrations, applied: Set(versions))
        for migration in plan.missing { try await apply(migration, session, timeout) }
        return plan.missing.map(\.version)
    }

    /// Takes turns with other daemons. Asks again and again: a wait in the server would look the same as a server that hangs.
    private func lock(_ session: PostgresSession) async throws {
        let end = ContinuousClock.now + configuration.migrationTimeout
        while true {
            let rows = try await session.execute("SELECT pg_try_advisory_lock(\(Self.lockKey)) AS is_ours")
            if try rows?.first?.boolean("is_ours") == true { return }
            guard ContinuousClock.now < end else {
                throw PostgresError(
                    kind: .unavailable(outcomeUnknown: false), message: "another daemon's migrations take too long")
            }
            try await Task.sleep(for: Self.lockPause)
        }
    }

    private func createTable(_ session: PostgresSession) async throws {
        // Asked first: a role that may not create schemas can still use one that is complete.
        let rows = try await session.execute("SELECT to_regclass('letsswitch.migration') IS NOT NULL AS there")
        if try rows?.first?.boolean("there") == true { return }
        try await session.execute(
            """
            CREATE SCHEMA IF NOT EXISTS letsswitch;
            CREATE TABLE letsswitch.migration (
                version integer PRIMARY KEY,
                name text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now()
            )
            """)
    }

    private func apply(
        _ migration: PostgresMigration, _ session: PostgresSession, _ timeout: Duration
    ) async throws {
        do {
            try await session.execute("BEGIN")
            try await session.execute(migration.sql, timeout: timeout)
            try await session.execute(
                "INSERT INTO letsswitch.migration (version, name) VALUES ($1, $2)",
                [.integer(migration.version), .text(migration.name)])
            try await session.execute("COMMIT", timeout: timeout)
        } catch let error as PostgresError {
            // The caller closes the session, which rolls back.
            throw PostgresError(
                kind: error.kind,
                message: "migration \(migration.version) (\(migration.name)): \(error.message)",
                constraint: error.constraint)
        }
    }
}
