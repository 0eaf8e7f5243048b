import FoundationEssentials
import Glibc

/// The installed `letsswitchd`, on a free port.
struct DaemonServer {
    let process: ServerProcess
    let server: Server
    /// The seconds from the start of the process to the line that names its port.
    let secondsToStart: Double

    /// - Parameters:
    ///   - conninfo: The conninfo of the daemon's database.
    ///   - flags: Further flags, after `--listen` and `--database-url`.
    init(
        executable: String, conninfo: String, flags: [String], name: String = "daemon", on processors: Processors,
        directory: String
    ) throws(BenchFailure) {
        let arguments = [executable, "--listen", "127.0.0.1:0", "--database-url", conninfo] + flags
        let start = ContinuousClock.now
        process = try ServerProcess(arguments, on: processors, output: "\(directory)/\(name).log")
        let port = try process.await("the daemon's port", find: Self.port)
        secondsToStart = (ContinuousClock.now - start) / .seconds(1)
        server = Server(name: name, pid: process.pid, port: port)
    }

    private struct Line: Decodable {
        let msg: String
        let address: String?
    }

    /// Returns the port in the `listening` line.
    private static func port(_ log: String) -> UInt16? {
        for text in log.split(separator: "\n") {
            guard let line = try? JSONDecoder().decode(Line.self, from: Data(text.utf8)), line.msg == "listening"
            else { continue }
            return line.address?.split(separator: ":").last.flatMap { UInt16($0) }
        }
        return nil
    }
}

/// The settings with which the daemon's sessions access tables only by index (`DatabaseSchema.sessionSettings`). The
/// baselines use the same settings.
enum PlannerSettings {
    /// The settings in the form of `PostgresConfiguration.sessionSettings`.
    static let settings = [
        "enable_seqscan": "off", "enable_bitmapscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
        "max_parallel_workers_per_gather": "0", "jit": "off",
    ]

    /// The settings in the form of a connection string.
    static var option: String {
        "options='\(settings.map { "-c \($0.key)=\($0.value)" }.joined(separator: " "))'"
    }
}
