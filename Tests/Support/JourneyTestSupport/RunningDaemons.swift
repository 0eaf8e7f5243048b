import LetsSwitch
import Observability
import Settings
import Sockets
import TestSupport

/// The daemons of a journey that run in this process. A wait of the test that ends in vain reports their logs.
actor RunningDaemons {
    private var daemons: [(daemon: Daemon, log: LogPipe)] = []

    /// - Parameter patience: The time for which the daemon waits for the database.
    func start(
        _ configuration: Configuration, patience: Duration
    ) async throws -> (daemon: Daemon, endpoint: ClientEndpoint) {
        SignalWatcher.ignoreBrokenPipes()
        let pipe = try LogPipe.take()
        Evidence.addLog(of: "daemon \(daemons.count + 1) of the journey") { [weak pipe] in pipe?.lines }
        let daemon = Daemon(
            configuration, log: Log(level: configuration.logLevel, format: .json, descriptor: pipe.descriptor))
        daemons.append((daemon, pipe))
        guard let address = try await daemon.start(patience: patience).first,
            let endpoint = ClientEndpoint("\(address)")
        else {
            throw ClientFailure.violation("The daemon listens nowhere.")
        }
        return (daemon, endpoint)
    }

    func stop() async {
        let daemons = daemons
        self.daemons = []
        await withTaskGroup(of: Void.self) { group in
            for (daemon, _) in daemons { group.addTask { await daemon.stop() } }
        }
        for (_, log) in daemons { log.release() }
    }
}
