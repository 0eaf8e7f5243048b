import Glibc
package import Postgres
import Synchronization

/// A private PostgreSQL cluster for tests, in a short temporary directory, without durability.
///
/// `shared` serves the whole test process and starts at its first use; a test that stops or breaks its server takes one
/// of its own by `dedicated()`. All of them are stopped and deleted when the process exits; what a crashed process left
/// is cleared away by the next.
package actor TestCluster {
    /// The cluster of this test process.
    package static let shared = TestCluster()

    package nonisolated let stateDirectory: String
    private let cluster: PrivateCluster
    private var starting: Task<PrivateClusterLocation, any Error>?
    /// The databases that others are copied from, by the name of their preparation.
    private var templates: [String: Task<String, any Error>] = [:]

    // Suites run at the same time, and each has its own pools.
    private init(maxConnections: Int = 400) {
        stateDirectory = TestClusterDirectories.shared.make()
        cluster = PrivateCluster(
            stateDirectory: stateDirectory, names: .test, isDurable: false, maxConnections: maxConnections)
    }

    /// Starts a cluster that belongs to one test, which may stop it. Takes about a second.
    package static func dedicated(maxConnections: Int = 400) async throws -> TestCluster {
        let cluster = TestCluster(maxConnections: maxConnections)
        _ = try await cluster.start()
        return cluster
    }

    /// Makes an empty database. Returns its connection string.
    package func makeDatabase() async throws -> String {
        try await makeDatabase(copying: "template1")
    }

    /// Makes a database that `prepare` has prepared, and returns its connection string. `prepare` gets a connection
    /// string too, and must leave no connection open. The shared cluster runs it once for each name, and copies the
    /// result.
    package func makeDatabase(
        named template: String, prepare: @escaping @Sendable (String) async throws -> Void
    ) async throws -> String {
        guard self === Self.shared else {
            let database = try await makeDatabase()
            try await prepare(database)
            return database
        }
        let making =
            templates[template]
            ?? Task {
                let database = try await makeDatabase()
                try await prepare(database)
                return Self.name(of: database)
            }
        templates[template] = making
        return try await makeDatabase(copying: try await making.value)
    }

    private func makeDatabase(copying template: String) async throws -> String {
        let location = try await start()
        let name = "test_\(UInt64.random(in: 0...UInt64.max))"
        let session = try await PostgresSession.connect(Self.configuration(location.conninfo))
        do {
            // Copies files instead of writing each block to the log. That is the only method up to PostgreSQL 14; later
            // versions use the log by default.
            let version = Int(
                try await session.execute("SHOW server_version_num")?.first?.string("server_version_num") ?? "")
            let strategy = version ?? 0 < 150_000 ? "" : " STRATEGY file_copy"
            try await session.execute(
                "CREATE DATABASE \(name) TEMPLATE \(template)\(strategy)", timeout: Deadline.standard)
        } catch {
            await session.close()
            throw error
        }
        await session.close()
        return location.conninfo + Self.databaseKey + name
    }

    /// Deletes a database that its test no longer needs, and ends its remaining connections. Each database has hundreds
    /// of files. Deleting all of them at the end of the process takes minutes on a busy machine.
    package func remove(_ database: String) async {
        // A dedicated cluster is deleted as a whole.
        guard self === Self.shared, let location = try? await starting?.value else { return }
        _ = try? await Self.execute("DROP DATABASE \(Self.name(of: database)) WITH (FORCE)", location.conninfo)
    }

    /// Runs one statement on a connection of its own.
    @discardableResult
    package static func execute(_ statement: String, _ conninfo: String) async throws -> PostgresRows? {
        let session = try await PostgresSession.connect(configuration(conninfo))
        do {
            let rows = try await session.execute(statement, timeout: Deadline.standard)
            await session.close()
            return rows
        } catch {
            await session.close()
            throw error
        }
    }

    private static let databaseKey = " dbname="
    private static func name(of database: String) -> String {
        database.split(separator: databaseKey).last.map { String($0) } ?? ""
    }

    /// Starts the server, unless it runs.
    @discardableResult
    package func start() async throws -> PrivateClusterLocation {
        if let starting { return try await starting.value }
        let cluster = cluster
        let task = Task { try await cluster.start() }
        starting = task
        return try await task.value
    }

    /// Stops the server. The data stays.
    package func stop() async {
        starting = nil
        await cluster.stop()
    }

    /// Stops the server as a crash does (immediate mode). The next start recovers the data.
    package func crash() async {
        if let pid = await cluster.processIdentifier { kill(pid, SIGQUIT) }
        await stop()
    }

    package func restart() async throws {
        await stop()
        try await start()
    }

    /// Returns the pid of the server, for signals.
    package func processIdentifier() async -> Int32? {
        await cluster.processIdentifier
    }

    private static func configuration(_ conninfo: String) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(conninfo: conninfo, applicationName: "test-support")
        configuration.connectTimeout = .seconds(60)
        return configuration
    }
}

extension ClusterNames {
    /// The daemon's names, so that tests and daemons can use each other's data.
    package static let test = ClusterNames(program: "letsswitch")
}
