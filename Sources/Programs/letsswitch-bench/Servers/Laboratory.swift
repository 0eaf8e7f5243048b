import Dispatch
import FoundationEssentials
import Glibc
import Postgres
import Sockets

/// Where a run takes place: a directory of its own, a private cluster in it, and which processor is whose. Gone when it ends.
final class Laboratory {
    /// Flags of a daemon with one loop, for any room.
    static let oneLoop = ["--loops", "1", "--open-rooms"]

    let options: Options
    let directory: String
    /// The database's.
    let conninfo: String
    /// All that we may use.
    let processors: Processors
    /// The server's own, and the generator's; the same where there is only one.
    let serverProcessor: Processors
    let generatorProcessor: Processors
    /// Sockets that the generator may have open at a time.
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
        // Of the process; the servers have the same limit, and keep some for themselves.
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

    /// Ends the cluster and forgets everything.
    func close() {
        let cluster = cluster
        // What can't be stopped in its time is killed by then.
        try? Blocking.wait { await cluster.stop() }
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// A daemon, on the server's processor and for our own database unless others are named.
    func daemon(
        name: String = "daemon", flags: [String], on processors: Processors? = nil, database: String? = nil
    ) throws(BenchFailure) -> DaemonServer {
        try DaemonServer(
            executable: options.daemon, conninfo: database ?? conninfo, flags: flags + options.daemonFlags, name: name,
            on: processors ?? serverProcessor, directory: directory)
    }

    /// - Parameter pings: Whether it pings everybody every three seconds, as Action Cable does.
    func relay(on processors: Processors? = nil, pings: Bool = false) throws(BenchFailure) -> RelayServer {
        try RelayServer(
            flags: pings ? ["--relay-pings"] : [], on: processors ?? serverProcessor, directory: directory)
    }

    /// Under `/tmp`, and to be entered by the cluster's user.
    private static func makeDirectory() throws(BenchFailure) -> String {
        var template = Array("/tmp/letsswitch-bench.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchFailure(call: "mkdtemp") }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard chmod(path, 0o755) == 0 else { throw BenchFailure(call: "chmod") }
        return path
    }
}
