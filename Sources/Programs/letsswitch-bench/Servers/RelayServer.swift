import Glibc
import Sockets

/// The baseline: a child process that runs this program as `letsswitch-bench relay`.
struct RelayServer {
    let process: ServerProcess
    let server: Server

    /// - Parameter flags: The relay's own flags, such as its bus.
    init(
        name: String = "relay", flags: [String] = [], on processors: Processors, directory: String
    ) throws(BenchFailure) {
        process = try ServerProcess(
            [try Self.ownPath(), "relay"] + flags, on: processors, output: "\(directory)/\(name).log")
        let port = try process.await("the relay's port") { text in
            text.contains("\n") ? text.split(separator: "\n").first.flatMap { UInt16($0) } : nil
        }
        server = Server(name: name, pid: process.pid, port: port)
    }

    /// Returns the path of this program. The link `/proc/self/exe` can't be used, because it names the process that
    /// follows it.
    private static func ownPath() throws(BenchFailure) -> String {
        guard let path = Options.ownPath else { throw BenchFailure(call: "readlink") }
        return path
    }

    /// Runs the relay in the child process: prints its port, and serves until it is killed.
    ///
    /// - Parameters:
    ///   - bus: The bus that the relay shares with other relays.
    ///   - pings: Whether the relay pings all peers.
    static func run(bus: String?, pings: Bool) throws {
        let (listener, port) = try LoadSocket.listen()
        let line = Array("\(port)\n".utf8)
        guard write(STDOUT_FILENO, line, line.count) == line.count else { throw BenchFailure(call: "write") }
        var relay = try Relay(
            listener: listener, descriptors: FileDescriptorLimit.raise(), pings: pings,
            bus: try bus.map { text in
                let place = try RelayBus.Place(text)
                return RelayBus(
                    try NotifyCarrier(number: place.number, of: place.count, conninfo: place.conninfo))
            })
        try relay.serve()
    }
}
