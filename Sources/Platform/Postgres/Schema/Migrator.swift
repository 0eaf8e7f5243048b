/// Updates a database's schema. An advisory lock ensures that only one daemon at a time updates the schema. Each
/// missing migration is one transaction. After the migrations, one more transaction replaces all functions.
struct Migrator {
    private static let lockPause = Duration.milliseconds(100)

    let configuration: PostgresConfiguration
    let schema: PostgresSchema

    func migrate() async throws -> PostgresSchema.Change {
        let session = try await PostgresSession.connect(configuration)
        do {
            // The lock ends with the session.
            let change = try await migrate(session)
            await session.close()
            return change
        } catch {
            await session.close()
            throw error
        }
    }

    /// Throws ``UnusableSchemaError`` if ``migrate()`` would throw it. Changes nothing.
    func check() async throws {
        let session = try await PostgresSession.connect(configuration)
        do {
            if try await exists("migration", session) {
                _ = try await plan(session)
            } else {
                try await checkNames(session)
            }
            let stored = try await storedFunctions(session)
            _ = try FunctionsPlan(revision: schema.functions.revision, digest: "", stored: stored)
            await session.close()
        } catch {
            await session.close()
            throw error
        }
    }

    private func migrate(_ session: PostgresSession) async throws -> PostgresSchema.Change {
        // The session's limits are raised, because a migration may take long, and so may the wait for another daemon's
        // migration.
        let limit = configuration.migrationTimeout + configuration.serverMargin
        try await session.execute("SET statement_timeout = \(SessionSettings.milliseconds(limit))")
        try await lock(session)
        try await createSchema(session)
        var change = PostgresSchema.Change()
        for migration in try await plan(session).missing {
            try await apply(migration, session)
            change.migrations.append(migration.version)
        }
        change.replacedFunctions = try await replaceFunctions(session)
        return change
    }

    /// Waits until no other daemon migrates. Polls, because a wait in the server would look like a server that hangs.
    private func lock(_ session: PostgresSession) async throws {
        let end = ContinuousClock.now + configuration.migrationTimeout
        while true {
            let rows = try await session.execute(
                "SELECT pg_try_advisory_lock(hashtextextended('migrations of ' || $1, 0)) AS is_ours",
                [.text(schema.name)])
            if try rows?.first?.boolean("is_ours") == true { return }
            guard ContinuousClock.now < end else {
                throw PostgresError(
                    kind: .unavailable(outcomeUnknown: false), message: "another daemon's migrations take too long")
            }
            try await Task.sleep(for: Self.lockPause)
        }
    }

    private func createSchema(_ session: PostgresSession) async throws {
        // This is checked first, because a role that can't create schemas can still use complete ones.
        if try await exists("migration", session) { return }
        try await checkNames(session)
        try await session.execute(
            """
            CREATE SCHEMA IF NOT EXISTS \(schema.name);
            CREATE TABLE \(schema.name).migration (
                version integer PRIMARY KEY,
                name text NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT now()
            )
            """)
    }

    /// Throws ``UnusableSchemaError`` if another program has made a schema with one of the names.
    private func checkNames(_ session: PostgresSession) async throws {
        let rows = try await session.execute(
            "SELECT nspname FROM pg_namespace WHERE nspname = ANY ($1::text[]) AND nspname <> $2 ORDER BY nspname LIMIT 1",
            [.textArray(schema.schemas), .text(schema.name)])
        guard let name = try rows?.first?.string("nspname") else { return }
        throw UnusableSchemaError(
            description: """
                the database has a schema "\(name)", which another program has made and this program needs for itself: \
                use a database of its own
                """)
    }

    private func exists(_ table: String, _ session: PostgresSession) async throws -> Bool {
        let rows = try await session.execute("SELECT to_regclass('\(schema.name).\(table)') IS NOT NULL AS there")
        return try rows?.first?.boolean("there") == true
    }

    // MARK: Tables

    private func plan(_ session: PostgresSession) async throws -> MigrationPlan {
        let rows = try await session.execute("SELECT version, name FROM \(schema.name).migration")
        var applied: [Int: String] = [:]
        for row in rows.map(Array.init) ?? [] { applied[try row.integer("version")] = try row.string("name") }
        return try MigrationPlan(of: schema, applied: applied)
    }

    private func apply(_ migration: PostgresMigration, _ session: PostgresSession) async throws {
        try await transaction("migration \(migration.version) (\(migration.name))", session) {
            try await session.execute(migration.sql, timeout: configuration.migrationTimeout)
            try await session.execute(
                "INSERT INTO \(schema.name).migration (version, name) VALUES ($1, $2)",
                [.integer(migration.version), .text(migration.name)])
        }
    }

    // MARK: Functions

    /// Returns whether the functions were replaced.
    private func replaceFunctions(_ session: PostgresSession) async throws -> Bool {
        let functions = schema.functions
        guard !functions.scripts.isEmpty else { return false }
        let digest =
            try await session.execute(
                "SELECT encode(sha256(convert_to($1, 'UTF8')), 'hex') AS digest", [.text(functions.text)])?[0]
            .string("digest") ?? ""
        let stored = try await storedFunctions(session)
        guard try FunctionsPlan(revision: functions.revision, digest: digest, stored: stored) == .replace else {
            return false
        }
        try await transaction("functions of revision \(functions.revision)", session) {
            try await session.execute(dropping(keeping: functions.kept))
            // The order of the functions follows their topics, so a function may call a later one. The bodies therefore
            // can't be checked yet.
            try await session.execute("SET LOCAL check_function_bodies = off")
            for script in functions.scripts {
                do {
                    try await session.execute(script.sql, timeout: configuration.migrationTimeout)
                } catch let error as PostgresError {
                    throw PostgresError(kind: error.kind, message: "\(script.name): \(error.message)")
                }
            }
            try await session.execute(
                """
                CREATE TABLE IF NOT EXISTS \(schema.name).functions (
                    revision integer NOT NULL,
                    oldest_usable integer NOT NULL,
                    digest text NOT NULL,
                    applied_at timestamptz NOT NULL DEFAULT now()
                );
                DELETE FROM \(schema.name).functions
                """)
            try await session.execute(
                "INSERT INTO \(schema.name).functions (revision, oldest_usable, digest) VALUES ($1, $2, $3)",
                [.integer(functions.revision), .integer(functions.oldestUsable), .text(digest)])
        }
        return true
    }

    private func storedFunctions(_ session: PostgresSession) async throws -> FunctionsPlan.Stored? {
        guard try await exists("functions", session) else { return nil }
        let rows = try await session.execute("SELECT revision, oldest_usable, digest FROM \(schema.name).functions")
        return try rows?.first.map {
            FunctionsPlan.Stored(
                revision: try $0.integer("revision"), oldestUsable: try $0.integer("oldest_usable"),
                digest: try $0.string("digest"))
        }
    }

    /// Returns statements that drop all functions, views and types, and everything that depends on them. `CREATE OR
    /// REPLACE` isn't enough, because it can't change a return type.
    private func dropping(keeping kept: [String]) -> String {
        let names = kept.map { "'\($0)'" }.joined(separator: ", ")
        let schemas = "ANY ('{\(schema.schemas.joined(separator: ","))}'::regnamespace[])"
        return """
            DO $$
            DECLARE
                v_object text;
            BEGIN
                FOR v_object IN
                    SELECT 'ROUTINE IF EXISTS ' || oid::regprocedure FROM pg_proc
                    WHERE pronamespace = \(schemas) AND proname <> ALL (ARRAY[\(names)]::text[])
                    UNION ALL
                    SELECT CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TYPE' END || ' IF EXISTS ' || oid::regclass FROM pg_class
                    WHERE relnamespace = \(schemas) AND relkind IN ('v', 'c')
                LOOP
                    -- IF EXISTS: it may have gone with another one.
                    EXECUTE format('DROP %s CASCADE', v_object);
                END LOOP;
            END
            $$
            """
    }

    // MARK: -

    private func transaction(_ what: String, _ session: PostgresSession, _ body: () async throws -> Void) async throws {
        do {
            try await session.execute("BEGIN")
            try await body()
            try await session.execute("COMMIT", timeout: configuration.migrationTimeout)
        } catch let error as PostgresError {
            // The caller closes the session, which rolls the transaction back.
            throw PostgresError(kind: error.kind, message: "\(what): \(error.message)", constraint: error.constraint)
        }
    }
}
