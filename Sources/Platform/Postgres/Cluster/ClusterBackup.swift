import Basics
import Glibc

/// Backs up and restores a private cluster's database as one file, with `pg_dump` and `pg_restore` of the cluster's
/// PostgreSQL version.
///
/// The tools run as the current user, not as the cluster's user. They work for any user that may enter the socket's
/// directory. They also work for root, even with files that the cluster's user can't access. The file names no owner,
/// so it can be restored into any database.
package actor ClusterBackup {
    /// The queue that waits for the tools. It has no other work.
    private nonisolated let executor = QueueExecutor(label: "postgres.backup")
    private let state: Directory
    private let names: ClusterNames
    private let isDurable: Bool

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter isDurable: See ``PrivateCluster``.
    package init(stateDirectory: String, names: ClusterNames, isDurable: Bool = true) {
        state = Directory(path: stateDirectory)
        self.names = names
        self.isDurable = isDurable
    }

    /// Writes the database to a file. The file gets its name only when it is complete, and then replaces an older file
    /// with this name. A daemon may use the database during the backup. If the cluster is stopped, it is started for
    /// the backup.
    ///
    /// - Parameter starting: Called before a stopped cluster is started.
    /// - Returns: The file's size in bytes.
    /// - Throws: ``PrivateClusterError``, with a message for the person at the terminal.
    package func write(to path: String, starting: @Sendable () -> Void = {}) async throws -> Int {
        guard ClusterPlacement.dataDirectories(state: state, names: names).contains(where: \.exists) else {
            throw PrivateClusterError("there is no private cluster in \(state.path)")
        }
        if let running = try running { return try dump(running.conninfo, version: running.version, to: path) }
        starting()
        let cluster = cluster()
        let location = try await start(cluster)
        let outcome = Result {
            try dump(location.conninfo, version: version(of: Directory(path: location.dataDirectory)), to: path)
        }
        await cluster.stop()
        return try outcome.get()
    }

    /// Restores the database from a file, either completely or not at all. The cluster is created if necessary, and
    /// started for the restore. The restore is refused if the database contains anything, or if a daemon uses it.
    ///
    /// - Throws: ``PrivateClusterError``, with a message for the person at the terminal.
    package func restore(from path: String) async throws {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw PrivateClusterError("cannot read", path, errno: errno) }
        defer { close(file) }
        let cluster = cluster()
        let location = try await start(cluster)
        do {
            try await load(file, into: location)
            await cluster.stop()
        } catch {
            await cluster.stop()
            throw error
        }
    }

    private func start(_ cluster: PrivateCluster) async throws -> PrivateClusterLocation {
        do {
            return try await cluster.start()
        } catch is CancellationError {
            await cluster.stop()
            throw PrivateClusterError("interrupted")
        }
    }

    private func cluster() -> PrivateCluster {
        PrivateCluster(stateDirectory: state.path, names: names, isDurable: isDurable)
    }

    /// The connection string and the version of a running daemon's server, or `nil` if no daemon is running.
    private var running: (conninfo: String, version: Int)? {
        get throws {
            guard let found = PrivateCluster.findRunning(state: state, names: names) else { return nil }
            return (found.conninfo, try version(of: found.data))
        }
    }

    private func version(of data: Directory) throws -> Int {
        guard let version = PostgresBinaries.version(ofData: data) else {
            throw PrivateClusterError("\(data.path) exists, but contains no PostgreSQL data")
        }
        return version
    }

    // MARK: The tools

    private func dump(_ conninfo: String, version: Int, to path: String) throws -> Int {
        let tool = try tool("pg_dump", version: version)
        return try UnfinishedFile.write(path) { file in
            // The daemon holds no table lock for long. If another client does, the command fails, because waiting could
            // take forever.
            try run(
                [
                    tool, "--format=custom", "--no-owner", "--no-privileges", "--lock-wait-timeout=60s",
                    "--dbname=\(conninfo)",
                ], output: file)
        }
    }

    private func load(_ file: Int32, into location: PrivateClusterLocation) async throws {
        let data = Directory(path: location.dataDirectory)
        let tool = try tool("pg_restore", version: version(of: data))
        var configuration = PostgresConfiguration(conninfo: location.conninfo, applicationName: names.program)
        // The limit is long, because a machine that has just started the server may be slow.
        configuration.connectTimeout = .seconds(20)
        do {
            let session = try await PostgresSession.connect(configuration)
            let holds = try await session.execute(Self.holdsAnything)?[0].boolean("something") ?? true
            await session.close()
            guard !holds else {
                let home = location.dataDirectory.split(separator: "/").dropLast().map { "/\($0)" }.joined()
                throw PrivateClusterError(
                    """
                    the database isn't empty, and a restore never overwrites data. To move it away:
                      mv '\(home)' '\(home).old'
                    """)
            }
        } catch let error as PostgresError {
            throw PrivateClusterError("the private cluster runs, but \(error.message)")
        }
        try run(
            [
                tool, "--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges",
                "--dbname=\(location.conninfo)",
            ],
            input: file)
    }

    /// An SQL query that returns whether the database has objects in `public`, or a schema that a new database doesn't
    /// have.
    private static let holdsAnything = """
        SELECT EXISTS (
            SELECT FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname NOT IN ('information_schema', 'public')
        ) OR EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace) AS something
        """

    private func tool(_ name: String, version: Int) throws -> String {
        guard let path = PostgresBinaries.client(name, major: version) else {
            throw PrivateClusterError(
                "\(name) of PostgreSQL \(version) is not installed: apt-get install postgresql-client-\(version)")
        }
        return path
    }

    private func run(_ command: [String], input: Int32? = nil, output: Int32? = nil) throws {
        let outcome = try Subprocess(command: command).run(input: input, output: output) { Task.isCancelled }
        guard !Task.isCancelled else { throw PrivateClusterError("interrupted") }
        guard outcome.succeeded else {
            let name = command[0].split(separator: "/").last ?? ""
            throw PrivateClusterError("\(name) failed:\n\(outcome.output.suffix(2_048))")
        }
    }
}
