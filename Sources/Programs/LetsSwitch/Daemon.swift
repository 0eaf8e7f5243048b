import Basics
import Daemons
import Delivery
package import Observability
import Postgres
package import Server
package import Settings
import Sockets

/// The daemon's life: database, server, services, in that order up, and in the reverse order down.
package actor Daemon {
    /// How long a start waits for the database before it listens without it, and says so.
    package static let databasePatience = Duration.seconds(5)

    /// How long it waits for the other daemons' bus.
    private static let busPatience = Duration.seconds(1)

    let configuration: Configuration
    let log: Log
    let metrics = ProductMetrics(statements: Composition.statementNames)
    let notifier: SystemdNotifier
    private let supervisor: DatabaseSupervisor

    /// What exists once the daemon has started.
    private var parts: Composition?
    var application: Application? { parts?.application }
    /// What systemd shows while all is well.
    private(set) var status = ""
    private var clock: ClockStepWatcher?
    private var stopping: Task<Void, Never>?
    var isStopping: Bool { stopping != nil }

    package init(_ configuration: Configuration, log: Log) {
        self.configuration = configuration
        self.log = log
        notifier = SystemdNotifier(socket: configuration.notifySocket)
        supervisor = DatabaseSupervisor(configuration, log: log)
    }

    // MARK: Up

    /// Starts everything and listens.
    ///
    /// A database that is away doesn't keep the daemon from starting: it serves what it can, and the rest once the database is
    /// there. A private cluster that can't be started does.
    ///
    /// - Parameter patience: How long it waits for the database.
    /// - Returns: Where it listens.
    /// - Throws: What prevents the start; its description is for the person at the terminal.
    @discardableResult
    package func start(patience: Duration = databasePatience) async throws -> [ServerEndpoint] {
        for warning in configuration.warnings { log.warning("configuration", ["warning": .string(warning)]) }
        let tls = try loadCertificate()
        let (conninfo, data) = try await supervisor.open()
        let parts = try compose(conninfo: conninfo, tls: tls)
        self.parts = parts
        await supervisor.prepare(parts.database, patience: patience, enter: parts.enter) { [weak self] in
            await self?.startServices()
        }
        let endpoints = try await parts.application.listen(on: try resolveAddresses())
        await parts.control.start()
        StartPages.release()
        for endpoint in endpoints { report(endpoint, data: data) }
        status = "listening on \(endpoints.map(\.description).joined(separator: ", "))"
        notifier.ready(status: status)
        return endpoints
    }

    private func compose(conninfo: String, tls: TLSContext?) throws -> Composition {
        let observer = DatabaseObserver(
            metrics: metrics.database, log: log,
            connectionFailed: { [supervisor] in Task { await supervisor.revive() } })
        return try Composition(
            configuration, configuration.postgres(conninfo: conninfo), observer: observer,
            edge: ServerEdge(limits: limits, policy: edge, tls: tls), metrics: metrics, log: log, reserve: reserve / 2,
            report: Composition.Report(
                readiness: { [weak self] in await self?.readiness() ?? .gone },
                metrics: { [weak self] in await self?.parts?.metricsPage() ?? [] }))
    }

    private func readiness() async -> Readiness {
        await parts?.readiness(isDraining: isStopping) ?? .gone
    }

    /// The database is ready.
    private func startServices() async {
        guard !isStopping else { return }
        await parts?.services.start()
        // Who connects to a daemon that has just come hears the others at once.
        await parts?.bus.waitUntilSettled(within: Self.busPatience)
        do {
            clock = try ClockStepWatcher { [weak self] in
                Task { await self?.clockWasSet() }
            }
        } catch {
            log.warning("failed to watch the clock: changes of it are noticed late", ["error": .string("\(error)")])
        }
        // Nor does whoever is told by the database alone miss what happens from then on.
        await parts?.listener.waitUntilListening()
    }

    /// The system's clock has stepped, and the database's with it when it is on this machine.
    func clockWasSet() async {
        await parts?.resynchronise()
    }

    // MARK: Down

    /// Of the time to stop, what is left for the rest of the way down after the connections.
    private var reserve: Duration { min(.milliseconds(1500), configuration.drainTimeout / 2) }

    /// Ends everything within ``Configuration/drainTimeout``: peers are told, requests in hand answered, the database let go,
    /// the private cluster stopped. Idempotent; whoever calls it, returns when all has ended.
    package func stop() async {
        let stopping = stopping ?? Task { await bringDown() }
        self.stopping = stopping
        await stopping.value
    }

    private func bringDown() async {
        await supervisor.end()
        notifier.stopping()
        log.info("stopping")
        let deadline = MonotonicTime.now() + configuration.drainTimeout
        if let parts {
            let hasDrained = await parts.application.drain(within: max(.zero, deadline - .now() - reserve))
            if !hasDrained { log.warning("connections were closed before they had ended", ["drained": false]) }
            await parts.control.stop(within: deadline - .now() - reserve)
            await parts.services.stop(within: deadline - .now() - reserve / 2)
            await parts.application.stop()
        }
        clock = nil
        await supervisor.stop(within: max(.milliseconds(100), deadline - .now() - .milliseconds(100)))
        log.info("stopped")
    }

    /// Lets the private cluster end by itself: for a process that exits at once.
    package func abandonCluster() async {
        await supervisor.abandonCluster()
    }
}

extension Readiness {
    static let gone = Readiness(database: false, migrated: false, draining: true)
}
