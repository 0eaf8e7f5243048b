import Basics
import Glibc

/// A private cluster's database as one file, and back: by `pg_dump` and `pg_restore` of the cluster's own PostgreSQL.
///
/// The tools run as ourselves and not as the cluster's user: who may enter its socket's directory is let in, and root may, also where
/// that user can't reach the file. Nobody is named in the file, so that any database can take it.
package actor ClusterBackup {
    /// The tools are waited for on this queue, where nothing else waits.
    private nonisolated let executor = QueueExecutor(label: "postgres.backup")
    private let state: Directory
    private let names: ClusterNames
    private let isDurable: Bool

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter isDurable: As ``PrivateCluster``'s.
    package init(stateDirectory: String, names: ClusterNames, isDurable: Bool = true) {
        state = Directory(path: stateDirectory)
        self.names = names
        self.isDurable = isDurable
    }

    /// Writes the database into a file, which stands under its name only once it is complete; one that was there is replaced.
    /// A daemon may serve meanwhile; a cluster that doesn't run is started for as long.
    ///
    /// - Parameter starting: Called before a cluster is started that doesn't run.
    /// - Returns: The file's size in bytes.
    /// - Throws: ``PrivateClusterError``, for the person at the terminal.
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

    /// Reads the database from a file, all of it or nothing. The cluster is made if there is none, and started for as long; a database
    /// that holds anything is refused, and so is one that a daemon serves.
    ///
    /// - Throws: ``PrivateClusterError``, for the person at the terminal.
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

    /// The server that a daemon runs.
    private var running: (conninfo: String, version: Int)? {
        get throws {
            guard let found = PrivateCluster.findRunning(state: state, names: names) else { return nil }
            return (found.conninfo, try version(of: found.data))
        }
    }

    private func version(of data: Directory) throws -> Int {
        guard let version = PostgresBinaries.version(ofData: data) else {
            throw PrivateClusterError("\(data.path) is there but holds no data of PostgreSQL")
        }
        return version
    }

    // MARK: The tools

    private func dump(_ conninfo: String, version: Int, to path: String) throws -> Int {
        let tool = try tool("pg_dump", version: version)
        return try UnfinishedFile.write(path) { file in
            // Nothing of ours holds a table for long; who does is told, rather than waited for all night.
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
        let session: PostgresSession
        do {
            session = try await PostgresSession.connect(
                PostgresConfiguration(conninfo: location.conninfo, applicationName: names.program))
            let holds = try await session.execute(Self.holdsAnything)?[0].boolean("something") ?? true
            await session.close()
            guard !holds else {
                let home = location.dataDirectory.split(separator: "/").dropLast().map { "/\($0)" }.joined()
                throw PrivateClusterError(
                    """
                    the database isn't empty, and a restore overwrites nothing. To put it out of the way:
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

    /// Schemas beside those of every database, and what stands in `public`.
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
