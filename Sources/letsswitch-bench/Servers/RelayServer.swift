import Glibc
import Sockets

/// The baseline: this program again, as `letsswitch-bench relay`.
struct RelayServer {
    let process: ServerProcess
    let server: Server

    init(on processors: Processors, directory: String) throws(BenchFailure) {
        process = try ServerProcess(
            [try Self.ownPath(), "relay"], on: processors, output: "\(directory)/relay.log")
        let port = try process.await("the relay's port") { text in
            text.contains("\n") ? text.split(separator: "\n").first.flatMap { UInt16($0) } : nil
        }
        server = Server(name: "relay", pid: process.pid, port: port)
    }

    /// The link itself would mean whoever follows it.
    private static func ownPath() throws(BenchFailure) -> String {
        guard let path = Options.ownPath else { throw BenchFailure(call: "readlink") }
        return path
    }

    /// What the child does: says its port, and serves until it is killed.
    static func run() throws {
        let (listener, port) = try LoadSocket.listen()
        let line = Array("\(port)\n".utf8)
        guard write(STDOUT_FILENO, line, line.count) == line.count else { throw BenchFailure(call: "write") }
        var relay = try Relay(listener: listener, descriptors: FileDescriptorLimit.raise())
        try relay.serve()
    }
}
