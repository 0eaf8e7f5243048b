import Foundation
import Glibc

/// A RabbitMQ broker for one test, in a temporary directory, with its own name, cookie, ports and `epmd`, independent
/// of other brokers on the machine. It runs as the tests' user, or as `nobody` if that is root.
///
/// Its processes are killed when this object is released, and when the test process ends for any reason. Starting takes
/// some seconds.
package actor TestBroker {
    private static let server = "/usr/lib/rabbitmq/bin/rabbitmq-server"
    private static let control = "/usr/lib/rabbitmq/bin/rabbitmqctl"
    private static let portMapper = "/usr/bin/epmd"
    private static let attempts = 3
    /// Long enough for a busy machine.
    private static let startTimeout: Duration = .seconds(180)

    /// Whether `make interop` is running, which runs the tests that need a broker.
    package static let isWanted = ProcessInfo.processInfo.environment["LETSSWITCH_INTEROP"] != nil
    package static let isInstalled = [server, control, portMapper].allSatisfy { (path: String) in
        access(path, X_OK) == 0
    }
    /// The reason why such tests are skipped.
    package static let whySkipped =
        isWanted
        ? "there is no broker of RabbitMQ: sh Sources/Scripts/set-up.sh interop" : "they need a broker: make interop"
    package static var runs: Bool { isWanted && isInstalled }

    /// The broker's user, if the tests can choose it.
    private static let user: (uid: uid_t, gid: gid_t)? =
        geteuid() == 0 ? getpwnam("nobody").map { ($0.pointee.pw_uid, $0.pointee.pw_gid) } : nil

    package nonisolated let port: UInt16
    package nonisolated let tlsPort: UInt16
    private let mapperPort: UInt16
    private let nodePort: UInt16
    private let directory: String
    private let node: String
    private var mapper: ChildProcess?
    private var broker: ChildProcess?

    /// The URL for RabbitMQ's default user.
    package nonisolated var url: String { "amqp://guest:guest@127.0.0.1:\(port)/" }

    /// The URL with TLS, for a broker with an identity.
    package nonisolated var tlsURL: String { "amqps://guest:guest@localhost:\(tlsPort)/" }

    /// Starts a broker that accepts connections.
    ///
    /// - Parameter identity: The certificate and key for TLS.
    package static func start(as identity: TestAuthority.Identity? = nil) async throws -> TestBroker {
        var last: (any Error)?
        for _ in 0..<attempts {
            // A free port may have been taken meanwhile.
            let broker = try TestBroker()
            if let identity { try await broker.setIdentity(identity) }
            do {
                try await broker.start()
                return broker
            } catch {
                await broker.kill()
                last = error
            }
        }
        throw last ?? ClientFailure.misuse("no attempt")
    }

    private init() throws {
        directory = "\(TestClusterDirectories.shared.make())/broker"
        port = try FreePort.find()
        tlsPort = try FreePort.find()
        mapperPort = try FreePort.find()
        nodePort = try FreePort.find()
        node = "test-\(port)@localhost"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        try Self.give(directory)
        try write(settings(""), to: "rabbitmq.conf")
        try write("[].", to: "plugins")
    }

    private nonisolated func settings(_ more: String) -> String {
        """
        listeners.tcp.1 = 127.0.0.1:\(port)
        disk_free_limit.absolute = 1MB
        log.console = true
        log.console.level = info
        log.file = false
        \(more)
        """
    }

    private nonisolated func write(_ text: String, to name: String) throws {
        try text.write(toFile: "\(directory)/\(name)", atomically: true, encoding: .utf8)
        try Self.give("\(directory)/\(name)")
    }

    /// Gives a file to the user that runs the broker.
    private static func give(_ path: String) throws {
        guard let user else { return }
        guard chown(path, user.uid, user.gid) == 0 else { throw ClientFailure.system(call: "chown", code: errno) }
    }

    /// Makes the broker accept TLS with this certificate from its next start on.
    package func setIdentity(_ identity: TestAuthority.Identity) throws {
        for (file, name) in [(identity.certificate, "certificate.pem"), (identity.key, "key.pem")] {
            try write(try String(contentsOfFile: file, encoding: .utf8), to: name)
        }
        let lines = """
            listeners.ssl.1 = 127.0.0.1:\(tlsPort)
            ssl_options.certfile = \(directory)/certificate.pem
            ssl_options.keyfile = \(directory)/key.pem
            ssl_options.verify = verify_none
            """
        try write(settings(lines), to: "rabbitmq.conf")
    }

    /// Starts the broker with its stored data, unless it runs.
    package func start() async throws {
        guard broker == nil else { return }
        if mapper == nil {
            // Starts `epmd` first. Otherwise the broker would start one and leave it running.
            mapper = try await child(Self.portMapper, ["-address", "127.0.0.1", "-port", "\(mapperPort)"])
        }
        let broker = try await child(Self.server, [])
        self.broker = broker
        try await broker.lines.next("the broker's start", within: Self.startTimeout) {
            $0.text.contains("Server startup complete")
        }
    }

    /// Stops the broker in an orderly way: it notifies its clients.
    package func stop() async throws {
        await broker?.signal(SIGTERM)
        _ = try await broker?.waitForExit()
        broker = nil
    }

    /// Kills the broker, which then can't notify its clients.
    package func kill() async {
        await broker?.signal(SIGKILL)
        _ = try? await broker?.waitForExit()
        broker = nil
    }

    /// Ends the broker and all its processes.
    package func end() async {
        await kill()
        await mapper?.signal(SIGKILL)
        _ = try? await mapper?.waitForExit()
        mapper = nil
    }

    /// Makes the broker refuse published messages, as if memory were low, or accept them again.
    package func setMemoryAlarm(_ isOn: Bool) async throws {
        try await run("set_vm_memory_high_watermark", isOn ? "0.0000001" : "0.9")
    }

    private func child(_ program: String, _ arguments: [String]) async throws -> ChildProcess {
        guard let user = Self.user else {
            return try await ChildProcess.start(program, arguments, environment: environment)
        }
        // A process that changes its user loses its parent-death signal, so it is set again.
        let command = [
            "--reuid=\(user.uid)", "--regid=\(user.gid)", "--clear-groups", "--pdeathsig", "KILL", "--", program,
        ]
        return try await ChildProcess.start("/usr/bin/setpriv", command + arguments, environment: environment)
    }

    /// Returns the id of the broker's user.
    package func user() throws -> Int {
        var status = stat()
        guard let pid = broker?.pid, stat("/proc/\(pid)", &status) == 0 else {
            throw ClientFailure.misuse("the broker doesn't run")
        }
        return Int(status.st_uid)
    }

    /// Returns the broker's resident memory in bytes.
    package func memory() throws -> Int {
        guard let pid = broker?.pid else { return 0 }
        let pages = try String(contentsOfFile: "/proc/\(pid)/statm", encoding: .utf8).split(separator: " ")
        return (pages.count > 1 ? Int(pages[1]) ?? 0 : 0) * 4_096
    }

    /// - Returns: The output of `rabbitmqctl`.
    @discardableResult
    package func run(_ arguments: String...) async throws -> String {
        let child = try await child(Self.control, ["--quiet", "--node", node] + arguments)
        let status = try await child.waitForExit()
        guard status == .exited(0) else {
            throw ClientFailure.violation("rabbitmqctl \(arguments): \(child.lines.all.map(\.text))")
        }
        return child.text(of: .output)
    }

    private var environment: [String: String] {
        [
            "PATH": "/usr/bin:/bin", "HOME": directory, "LC_ALL": "C.UTF-8",
            "ERL_EPMD_PORT": "\(mapperPort)", "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": node,
            "RABBITMQ_NODE_PORT": "\(port)",
            "RABBITMQ_DIST_PORT": "\(nodePort)",
            "RABBITMQ_MNESIA_BASE": "\(directory)/data",
            "RABBITMQ_LOG_BASE": "\(directory)/log",
            "RABBITMQ_CONFIG_FILE": "\(directory)/rabbitmq",
            "RABBITMQ_CONF_ENV_FILE": "\(directory)/none",
            "RABBITMQ_ENABLED_PLUGINS_FILE": "\(directory)/plugins",
            "RABBITMQ_PID_FILE": "\(directory)/pid",
            // Erlang's schedulers would otherwise spin while they have no work, and slow the tests down.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS":
                "+sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}",
            "RABBITMQ_CTL_ERL_ARGS": "+sbwt none",
            // The start script then replaces itself with the broker, and doesn't remain as its parent.
            "RUNNING_UNDER_SYSTEMD": "true",
        ]
    }
}
