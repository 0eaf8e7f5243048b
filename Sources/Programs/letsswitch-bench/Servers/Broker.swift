import Glibc

/// A RabbitMQ broker for one run, in the run's directory. It has its own name, ports and `epmd`, so it is independent
/// of other brokers on this machine. It ends with this process.
final class Broker {
    private static let server = "/usr/lib/rabbitmq/bin/rabbitmq-server"
    private static let portMapper = "/usr/bin/epmd"
    private static let secondsToStart = 120

    let port: UInt16
    private let mapper: ServerProcess
    private let process: ServerProcess

    /// The broker's URL, with its default user.
    var url: String { "amqp://guest:guest@127.0.0.1:\(port)/" }

    /// - Parameter directory: The directory of the run.
    init(directory: String, on processors: Processors) throws(BenchFailure) {
        for path in [Self.server, Self.portMapper] where access(path, X_OK) != 0 {
            throw BenchFailure("there is no \(path): sh Sources/Scripts/set-up.sh interop")
        }
        port = try Self.freePort()
        let (mapperPort, nodePort) = (try Self.freePort(), try Self.freePort())
        let home = "\(directory)/broker"
        guard mkdir(home, 0o700) == 0 else { throw BenchFailure(call: "mkdir") }
        try Self.write(
            """
            listeners.tcp.1 = 127.0.0.1:\(port)
            disk_free_limit.absolute = 1MB
            log.console = true
            log.file = false

            """, to: "\(home)/rabbitmq.conf")
        try Self.write("[].\n", to: "\(home)/plugins")
        let environment = [
            "PATH=/usr/bin:/bin", "HOME=\(home)", "LC_ALL=C.UTF-8", "ERL_EPMD_PORT=\(mapperPort)",
            "ERL_EPMD_ADDRESS=127.0.0.1", "RABBITMQ_NODENAME=bench-\(port)@localhost", "RABBITMQ_NODE_PORT=\(port)",
            "RABBITMQ_DIST_PORT=\(nodePort)", "RABBITMQ_MNESIA_BASE=\(home)/data", "RABBITMQ_LOG_BASE=\(home)/log",
            "RABBITMQ_CONFIG_FILE=\(home)/rabbitmq", "RABBITMQ_CONF_ENV_FILE=\(home)/none",
            "RABBITMQ_ENABLED_PLUGINS_FILE=\(home)/plugins", "RABBITMQ_PID_FILE=\(home)/pid",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1}",
            // With this variable, the start script replaces itself by the broker.
            "RUNNING_UNDER_SYSTEMD=true",
        ]
        let prefix = ["/usr/bin/env", "-i"] + environment
        mapper = try ServerProcess(
            prefix + [Self.portMapper, "-address", "127.0.0.1", "-port", "\(mapperPort)"], on: processors,
            output: "\(directory)/epmd.log")
        process = try ServerProcess(prefix + [Self.server], on: processors, output: "\(directory)/broker.log")
        try process.await("the broker's start", within: Self.secondsToStart) { text in
            text.contains("Server startup complete") ? true : nil
        }
    }

    func stop() {
        process.stop()
        mapper.stop()
    }

    private static func freePort() throws(BenchFailure) -> UInt16 {
        let (descriptor, port) = try LoadSocket.listen()
        close(descriptor)
        return port
    }

    private static func write(_ text: String, to path: String) throws(BenchFailure) {
        guard let file = fopen(path, "we") else { throw BenchFailure(call: "fopen") }
        fputs(text, file)
        guard fclose(file) == 0 else { throw BenchFailure(call: "fclose") }
    }
}
