import Dispatch
import FoundationEssentials
import Glibc
import Postgres
import Sockets

/// The environment of a run: its own directory with a private cluster, and the processors of the server and the
/// generator. The directory is removed when the run ends.
final class Laboratory {
    /// The flags of a daemon with one loop and open rooms.
    static let oneLoop = ["--loops", "1", "--open-rooms"]

    let options: Options
    let directory: String
    /// The conninfo of the database.
    let conninfo: String
    /// All processors that this process may use.
    let processors: Processors
    /// The server's processor. If there is only one processor, it is also the generator's.
    let serverProcessor: Processors
    /// The generator's processor.
    let generatorProcessor: Processors
    /// The maximum number of sockets that the generator may have open at the same time.
    let descriptors: Int
    private let cluster: PrivateCluster
    private let signals: [any DispatchSourceSignal]

    /// - Parameter isDurable: Whether commits wait for the disk.
    init(_ options: Options, isDurable: Bool) throws {
        self.options = options
        processors = try Processors.current()
        guard let first = processors.single(0) else { throw BenchFailure("no processor") }
        serverProcessor = first
        generatorProcessor = processors.single(1) ?? first
        // The servers have the same descriptor limit as this process. 128 descriptors of the limit remain for their own
        // files and for their connections to the database.
        descriptors = FileDescriptorLimit.raise() - 128
        directory = try Self.makeDirectory()
        let cluster = PrivateCluster(
            stateDirectory: directory, names: ClusterNames(program: "letsswitch"), isDurable: isDurable)
        self.cluster = cluster
        let path = directory
        signals = Children.shared.endOnSignals {
            cluster.signalFastShutdown()
            try? FileManager.default.removeItem(atPath: path)
        }
        do {
            conninfo = try Blocking.wait { try await cluster.start() }.conninfo
        } catch {
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
    }

    /// Stops the cluster and removes the directory.
    func close() {
        let cluster = cluster
        // If the cluster doesn't stop in time, it is killed.
        try? Blocking.wait { await cluster.stop() }
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Starts a daemon. By default it uses the server's processor and the run's database.
    func daemon(
        name: String = "daemon", flags: [String], on processors: Processors? = nil, database: String? = nil
    ) throws(BenchFailure) -> DaemonServer {
        try DaemonServer(
            executable: options.daemon, conninfo: database ?? conninfo, flags: flags + options.daemonFlags, name: name,
            on: processors ?? serverProcessor, directory: directory)
    }

    /// - Parameter pings: Whether the relay pings all peers every three seconds, as Action Cable does.
    func relay(on processors: Processors? = nil, pings: Bool = false) throws(BenchFailure) -> RelayServer {
        try RelayServer(
            flags: pings ? ["--relay-pings"] : [], on: processors ?? serverProcessor, directory: directory)
    }

    /// Makes the run's directory under `/tmp`. The cluster's user can read it.
    private static func makeDirectory() throws(BenchFailure) -> String {
        var template = Array("/tmp/letsswitch-bench.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchFailure(call: "mkdtemp") }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard chmod(path, 0o755) == 0 else { throw BenchFailure(call: "chmod") }
        return path
    }
}
