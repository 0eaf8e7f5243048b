import Glibc
import LetsSwitch
import Observability
import Settings
import Sockets
import TestSupport

/// The daemons of a journey that run in this process.
actor RunningDaemons {
    private var daemons: [Daemon] = []
    /// For what nobody reads.
    private static let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)

    /// - Parameter patience: How long it waits for the database.
    func start(
        _ configuration: Configuration, patience: Duration
    ) async throws -> (daemon: Daemon, endpoint: ClientEndpoint) {
        SignalWatcher.ignoreBrokenPipes()
        let daemon = Daemon(
            configuration, log: Log(level: configuration.logLevel, format: .json, descriptor: Self.nowhere))
        daemons.append(daemon)
        guard let address = try await daemon.start(patience: patience).first,
            let endpoint = ClientEndpoint("\(address)")
        else {
            throw ClientFailure.violation("a daemon that listens nowhere")
        }
        return (daemon, endpoint)
    }

    func stop() async {
        let daemons = daemons
        self.daemons = []
        await withTaskGroup(of: Void.self) { group in
            for daemon in daemons { group.addTask { await daemon.stop() } }
        }
    }
}
