import Basics
import Dispatch
import Domain
import Glibc
package import Observability
import Postgres
import Rooms
package import Server
import Sockets
import Wire

/// The daemon's life: database, server, scheduler, in that order up, and in the reverse order down.
package actor Daemon {
    /// How long a start waits for the database before it listens without it, and says so.
    private static let databasePatience = Duration.seconds(5)
    private static let databaseRetry = Duration.milliseconds(250)
    /// Connections that a private cluster has beside those for requests: the scheduler's, LISTEN's, a second daemon's, psql's.
    private static let furtherConnections = 20

    let configuration: Configuration
    let log: Log
    let metrics: ProductMetrics
    let notifier: SystemdNotifier

    private var cluster: PrivateCluster?
    private var services: Services?
    var application: Application? { services?.application }
    /// What systemd shows while all is well.
    private(set) var status = ""
    private var clock: ClockStepWatcher?
    private var preparing: Task<Void, Never>?
    private var scheduling: Task<Void, Never>?
    private var carrying: Task<Void, Never>?
    private var erasing: Task<Void, Never>?
    private var monitoring: Task<Void, Never>?
    private var isReviving = false
    private var stopping: Task<Void, Never>?
    var isStopping: Bool { stopping != nil }

    /// What exists once the daemon has started.
    private struct Services {
        let database: Database
        let application: Application
        let scheduler: Scheduler
        let streams: EventStreams
        let acknowledgements: Acknowledgements
        let erasures: ErasureWorker
        let couriers: Couriers
        let rooms: Rooms
        let attendance: AttendanceWriter
        let listener: PostgresListener
    }

    package init(_ configuration: Configuration, log: Log) {
        self.configuration = configuration
        self.log = log
        metrics = ProductMetrics(
            statements: ReminderStatements.names + ScheduleStatements.names + DeliveryStatements.names
                + CalendarStore.statementNames + StorageStore.statementNames)
        notifier = SystemdNotifier(socket: configuration.notifySocket)
    }

    // MARK: Up

    /// Starts everything and listens.
    ///
    /// A database that is away doesn't keep the daemon from starting: it serves what it can, and the rest once the database is
    /// there. A private cluster that can't be started does.
    ///
    /// - Returns: Where it listens.
    /// - Throws: What prevents the start; its description is for the person at the terminal.
    @discardableResult
    package func start() async throws -> [ServerEndpoint] {
        for warning in configuration.warnings { log.warning("configuration", ["warning": .string(warning)]) }
        let tls = try loadCertificate()
        let (conninfo, data) = try await openDatabase()
        let services = try makeServices(conninfo: conninfo, tls: tls)
        self.services = services
        await prepareDatabase(services, patience: Self.databasePatience)
        let endpoints = try await services.application.listen(on: try resolveAddresses())
        for endpoint in endpoints { report(endpoint, data: data) }
        status = "listening on \(endpoints.map(\.description).joined(separator: ", "))"
        notifier.ready(status: status)
        return endpoints
    }

    /// The database's conninfo, and what to call it in the log.
    private func openDatabase() async throws -> (conninfo: String, name: String) {
        switch configuration.database {
        case .url(let url):
            return (url, configuration.database.description)
        case .libpqEnvironment:
            return ("", configuration.database.description)
        case .privateCluster:
            let cluster = PrivateCluster(
                stateDirectory: configuration.stateDirectory, names: ClusterNames(program: "letsswitch"),
                maxConnections: max(60, configuration.databaseConnections + Self.furtherConnections))
            self.cluster = cluster
            let location = try await cluster.start()
            guard let asked = location.relocatedFrom else { return (location.conninfo, location.dataDirectory) }
            let reason = location.relocationReason ?? "it can't be there"
            return (location.conninfo, "\(location.dataDirectory) (not \(asked): \(reason))")
        }
    }

    private func makeServices(conninfo: String, tls: TLSContext?) throws -> Services {
        var postgres = PostgresConfiguration(conninfo: conninfo, applicationName: "letsswitch")
        postgres.sessionSettings = DatabaseSchema.sessionSettings
        postgres.maxConnections = configuration.databaseConnections
        postgres.queryTimeout = configuration.databaseTimeout
        postgres.stallTimeout = configuration.databaseWait
        // Less than a request waits, so that it lives to see the connection that comes instead.
        postgres.endPatience = configuration.databaseWait * 2 / 3
        let refusals = DatabaseRefusals()
        let observer = DatabaseObserver(metrics: metrics.database, log: log, refusals: refusals) { [weak self] in
            Task { await self?.reviveCluster() }
        }
        let database = Database(
            postgres, settings: configuration, observer: observer, refusals: refusals, log: log)
        let couriers = try makeCouriers(database)
        let attendance = makeAttendanceWriter(database, couriers)
        let loops = try EventLoopGroup(count: configuration.loops)
        let rooms = Rooms(
            loops: loops.loops, anyRoomIsOpen: configuration.openRooms, aleFrame: AleFrame.aleResponse,
            report: attendance.hear)
        let acknowledgements = Acknowledgements(
            store: database.schedulerStores.reminders, metrics: metrics.scheduling, log: log)
        let streams = EventStreams(
            loops: loops.loops, rooms: rooms, keys: try RoomKeys(),
            limitPerDevice: configuration.maxStreamsPerDevice, metrics: metrics.streams
        ) { reminders in
            Task { await acknowledgements.add(reminders) }
        }
        let changes = ScheduleChanges(client: database.background, streams: streams)
        let stores = database.schedulerStores
        let erasures = ErasureWorker(store: database.schedule, log: log) { await changes.publish($0) }
        let scheduler = Scheduler(
            work: SchedulerWork(
                claims: stores.claims, store: stores.reminders, schedule: stores.schedule,
                retention: configuration.retention / .seconds(1), rooms: rooms, streams: streams, log: log),
            rooms: rooms, streams: streams, metrics: metrics.scheduling, log: log, claimed: { couriers.wake() })
        let page = MetricsPage(product: metrics, database: database, rooms: rooms, channels: couriers.metrics)
        let application = Application(
            on: loops, limits: limits, edge: edge, tls: tls, handlerExecutor: database.executor, mapError: mapError,
            audience: .people
        ) { [metrics, log, configuration] routes in
            // First what is asked for most: the app asks for a room again and again when it is refused.
            routes.register(
                collection: AleController(
                    rooms: rooms, policy: .match(capacity: configuration.roomSize), metrics: metrics.rooms,
                    find: database.reminders.findRoom, found: { await scheduler.found($0) }))
            routes.register(
                collection: OperationsRoutes(
                    readiness: { [weak self] in await self?.readiness() ?? .gone },
                    metrics: { [weak self] in await self?.render(page) ?? [] }))
            routes.register(
                collection: TaskRoutes(
                    database: database, changes: changes, metrics: metrics.scheduling, log: log,
                    registered: { await scheduler.registered(dueAt: $0) }, told: { couriers.wake(.webhook) }))
            routes.register(collection: ScheduleRoutes(database: database))
            routes.register(
                collection: DeviceRoutes(database: database, changes: changes, erasures: erasures, log: log))
            routes.register(collection: ChannelRoutes(configuration.channels, database: database, log: log))
            routes.register(collection: EventStreamController(streams: streams, backlog: database.reminders.backlog))
            routes.register(collection: PageRoutes(configuration))
            if configuration.echo { routes.register(collection: EchoController()) }
        }
        let listener = PostgresListener(
            configuration: postgres,
            channels: [
                ReminderStore.dueChannel, ReminderStore.firedChannel, DeliveryStore.channel, ScheduleChanges.channel,
            ]
        ) { [log] event in
            switch event {
            case .listening:
                Task { await scheduler.resynchronise() }
                couriers.wake()
            case .notification(ReminderStore.dueChannel, let payload):
                if let epoch = Double(payload) { Task { await scheduler.expect(epoch) } }
            case .notification(ReminderStore.firedChannel, let payload):
                if let batch = Int(payload) { Task { await scheduler.fired(batch) } }
                couriers.wake()
            case .notification(DeliveryStore.channel, let payload):
                if let name = ChannelName(rawValue: payload) { couriers.wake(name) }
            case .notification(_, let payload):
                Task { await changes.heard(payload) }
                // Another daemon's tasks: the webhook may be told of them.
                couriers.wake(.webhook)
            case .lost(let message):
                log.warning("notifications lost", ["error": .string(message)])
            }
        }
        return Services(
            database: database, application: application, scheduler: scheduler, streams: streams,
            acknowledgements: acknowledgements, erasures: erasures, couriers: couriers, rooms: rooms,
            attendance: attendance, listener: listener)
    }

    private nonisolated var mapError: @Sendable (any Error) -> Abort {
        { [log, metrics] error in
            if let error = error as? RequestError {
                if let quota = error.quota { metrics.quotas.add(quota) }
                return Abort(error)
            }
            if let error = error as? PostgresError {
                if let refusal = RequestError(error) { return Abort(refusal) }
                if case .shutDown = error.kind { return Abort(.databaseUnavailable) }
            }
            log.error("request failed", ["error": .string("\(error)")])
            return Abort(.internalServerError, reason: "Something went wrong here; the log knows what.")
        }
    }

    // MARK: The database

    /// Makes the database ready, however long it takes, and starts what lives on it. Returns when that is done, or after
    /// `patience`.
    private func prepareDatabase(_ services: Services, patience: Duration) async {
        let preparing = Task { await self.keepPreparing(services) }
        self.preparing = preparing
        await preparing.ends(within: patience)
    }

    private func keepPreparing(_ services: Services) async {
        var reported: String?
        while !isStopping, !Task.isCancelled {
            do {
                let change = try await services.database.prepare { try await services.couriers.enter() }
                if !change.isEmpty {
                    log.info(
                        "database migrated",
                        ["migrations": .int(change.migrations.count), "functions": .bool(change.replacedFunctions)])
                }
                return await startScheduling(services)
            } catch {
                report(error, after: &reported)
                try? await Task.sleep(for: Self.databaseRetry)
            }
        }
    }

    /// Says why the database isn't ready, unless it said the same before.
    private func report(_ error: any Error, after last: inout String?) {
        let text = "\(error)"
        guard text != last else { return }
        last = text
        if let error = error as? PostgresError, error.isUnavailable {
            log.warning("waiting for the database", ["error": .string(text)])
        } else {
            log.error("the database can't be used", ["error": .string(text)])
        }
    }

    private func startScheduling(_ services: Services) async {
        guard !isStopping else { return }
        let scheduler = services.scheduler
        scheduling = Task { await scheduler.run() }
        let couriers = services.couriers
        carrying = Task { await couriers.run() }
        let erasures = services.erasures
        erasing = Task { await erasures.run() }
        let storage = services.database.storage
        monitoring = Task { await storage.run() }
        await services.listener.start()
        do {
            clock = try ClockStepWatcher { [weak self] in
                Task { await self?.clockWasSet() }
            }
        } catch {
            log.warning("steps of the clock are noticed late", ["error": .string("\(error)")])
        }
    }

    /// The system's clock has stepped, and the database's with it when it is on this machine.
    func clockWasSet() async {
        await services?.scheduler.resynchronise()
        services?.couriers.wake()
    }

    /// The private cluster's server may have died: then it is started again.
    private func reviveCluster() async {
        guard let cluster, !isReviving, !isStopping else { return }
        isReviving = true
        defer { isReviving = false }
        do {
            _ = try await cluster.start()
        } catch {
            log.error("the private cluster can't be started", ["error": .string("\(error)")])
            try? await Task.sleep(for: .seconds(1))
        }
    }

    // MARK: For operators

    private func readiness() async -> Readiness {
        guard let services else { return .gone }
        return Readiness(
            database: await services.database.answers(), migrated: await services.database.isPrepared,
            draining: isStopping, schedulerLateness: await services.scheduler.lateness)
    }

    private func render(_ page: MetricsPage) async -> [UInt8] {
        guard let services else { return [] }
        return await page.render(services.application)
    }

    // MARK: Down

    /// Ends everything within ``Configuration/drainTimeout``: peers are told, requests in hand answered, the database let go,
    /// the private cluster stopped. Idempotent; whoever calls it, returns when all has ended.
    package func stop() async {
        let stopping = stopping ?? Task { await bringDown() }
        self.stopping = stopping
        await stopping.value
    }

    private func bringDown() async {
        notifier.stopping()
        log.info("stopping")
        let deadline = MonotonicTime.now() + configuration.drainTimeout
        // The rest of the way down needs a moment too.
        let reserve = min(.milliseconds(1500), configuration.drainTimeout / 2)
        if let services {
            let limit = max(.zero, deadline - .now() - reserve)
            let hasDrained = await services.application.drain(within: limit)
            if !hasDrained { log.warning("connections were cut off", ["drained": false]) }
            let ending = Task {
                self.monitoring?.cancel()
                await services.scheduler.stop()
                await self.scheduling?.value
                await services.erasures.stop()
                await self.erasing?.value
                await services.attendance.add(await services.rooms.takePresenceEvents())
                await services.attendance.finish()
                await services.couriers.stop(within: deadline - .now() - reserve)
                await self.carrying?.value
                await services.acknowledgements.add(await services.streams.takeAcknowledgements())
                await services.acknowledgements.finish()
                await services.listener.stop()
                await services.database.shutdown()
            }
            await ending.ends(within: deadline - .now() - reserve / 2)
            await services.application.stop()
        }
        preparing?.cancel()
        clock = nil
        await cluster?.stop(timeout: max(.milliseconds(100), deadline - .now() - .milliseconds(100)))
        log.info("stopped")
    }

    /// Lets the private cluster end by itself: for a process that exits at once.
    package func abandonCluster() {
        cluster?.signalFastShutdown()
    }
}

extension Readiness {
    static let gone = Readiness(database: false, migrated: false, draining: true)
}
