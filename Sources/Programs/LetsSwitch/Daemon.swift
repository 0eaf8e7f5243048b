import Basics
import Daemons
import Notifications
package import Observability
import Postgres
package import Server
package import Settings
import Sockets

/// The life of the daemon. It starts the database, the server and the services in this order, and stops them in the
/// reverse order.
package actor Daemon {
    /// How long a start waits for the database. Afterwards the daemon listens without it and logs a warning.
    package static let databasePatience = Duration.seconds(5)

    /// How long a start waits until the bus is connected with other daemons.
    private static let busPatience = Duration.seconds(1)

    let configuration: Configuration
    let log: Log
    let metrics: ProductMetrics
    let notifier: SystemdNotifier
    private let supervisor: DatabaseSupervisor

    /// The parts of the daemon; `nil` before it has started.
    private var parts: Composition?
    var application: Application? { parts?.application }
    /// The status that systemd shows while everything works.
    private(set) var status = ""
    private var clock: ClockStepWatcher?
    private var watchdog: Task<Void, Never>?
    private var stopping: Task<Void, Never>?
    var isStopping: Bool { stopping != nil }

    package init(_ configuration: Configuration, log: Log) {
        self.configuration = configuration
        self.log = log
        metrics = ProductMetrics(statements: Composition.statementNames(configuration))
        notifier = SystemdNotifier(socket: configuration.notifySocket)
        supervisor = DatabaseSupervisor(configuration, log: log)
    }

    // MARK: Up

    /// Starts everything and listens.
    ///
    /// An unavailable database doesn't prevent the start. The daemon serves what is possible without the database, and
    /// the rest as soon as the database is available. A private cluster that can't be started prevents the start.
    ///
    /// - Parameter patience: How long to wait for the database.
    /// - Returns: The addresses that the daemon listens on.
    /// - Throws: An error whose description is for the person at the terminal.
    @discardableResult
    package func start(patience: Duration = databasePatience) async throws -> [ServerEndpoint] {
        for warning in configuration.warnings { log.warning("configuration", ["warning": .string(warning)]) }
        let tls = try loadCertificate()
        let addresses = try resolveAddresses()
        // An address that is in use fails the start before a private cluster is created.
        try Application.checkEndpoints(addresses)
        let (conninfo, data) = try await supervisor.open()
        let parts = try compose(conninfo: conninfo, tls: tls)
        self.parts = parts
        try await supervisor.prepare(parts.database, patience: patience, enter: parts.enter) { [weak self] in
            await self?.startServices()
        }
        let endpoints = try await parts.application.listen(on: addresses)
        await parts.control.start()
        StartPages.release()
        for endpoint in endpoints { report(endpoint, data: data) }
        let summary = StartSummary(
            configuration, endpoints: endpoints, database: data, isDatabaseReady: await parts.database.isPrepared)
        log.info("started", summary.values)
        status = "listening on \(endpoints.map(\.description).joined(separator: ", "))"
        notifier.ready(status: status)
        if let limit = configuration.watchdog {
            let own = Watchdog(loops: parts.application.loops, notifier: notifier)
            watchdog = Task { await own.run(within: limit) }
        }
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

    /// Starts the services when the database is ready.
    private func startServices() async {
        guard !isStopping else { return }
        await parts?.services.start()
        // Waits for the bus, so that clients of this daemon receive ales from other daemons from the beginning.
        await parts?.bus.waitUntilSettled(within: Self.busPatience)
        do {
            clock = try ClockStepWatcher { [weak self] in
                Task { await self?.clockWasSet() }
            }
        } catch {
            log.warning("failed to watch the clock: changes of it are noticed late", ["error": .string("\(error)")])
        }
        // Waits for LISTEN, so that events that arrive only through the database aren't missed either.
        await parts?.listener.waitUntilListening()
    }

    /// Handles a change of the system's clock. The database's clock has changed too if the database is on this machine.
    func clockWasSet() async {
        await parts?.resynchronise()
    }

    // MARK: Down

    /// The part of the stopping time that remains for the other parts after the connections have closed.
    private var reserve: Duration { min(.milliseconds(1500), configuration.drainTimeout / 2) }

    /// Stops everything within ``Configuration/drainTimeout``: closes connections, answers running requests, and stops
    /// the private cluster. Can be called several times. Each call returns when everything has stopped.
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
            watchdog?.cancel()
            await parts.application.stop()
        }
        clock = nil
        await supervisor.stop(within: max(.milliseconds(100), deadline - .now() - .milliseconds(100)))
        log.info("stopped")
    }

    /// Lets the private cluster stop by itself, for a process that exits without waiting.
    package func abandonCluster() async {
        await supervisor.abandonCluster()
    }
}

extension Readiness {
    static let gone = Readiness(database: false, migrated: false, draining: true)
}
