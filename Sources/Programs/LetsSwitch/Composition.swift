import APIDescription
import Access
import ActionCable
import Basics
import Control
import Conversations
import Daemons
import Features
import Notifications
import Observability
import Postgres
import Reminders
import Rooms
import Schedule
import Schema
import Server
import Settings
import Sockets

/// The composition of the daemon's parts: settings → core → features → application. Only code in this folder knows all
/// of the parts.
struct Composition: Sendable {
    /// The functions that report the state of the whole daemon to operators.
    struct Report: Sendable {
        let readiness: @Sendable () async -> Readiness
        let metrics: @Sendable () async -> [UInt8]
    }

    let application: Application
    let bus: BusService
    let listener: PostgresListener
    /// The services for operators' commands. They work with and without a database.
    let control: ServiceGroup
    /// The services that use the database. Each depends only on services before it.
    let services: ServiceGroup
    private let core: DaemonCore
    private let features: DaemonFeatures
    private let page: MetricsPage

    var database: Database { core.database }

    /// - Parameters:
    ///   - postgres: The pool for requests. The other pools are derived from it.
    ///   - observer: Receives the events of connections and statements.
    ///   - reserve: The part of the stopping time that deliveries can't use, because other services stop after them.
    init(
        _ configuration: Configuration, _ postgres: PostgresConfiguration, observer: DatabaseObserver, edge: ServerEdge,
        metrics: ProductMetrics, log: Log, reserve: Duration, report: Report
    ) throws {
        var postgres = postgres
        postgres.sessionSettings = DatabaseSchema.sessionSettings
        core = try DaemonCore(
            configuration, postgres, observer: observer, metrics: metrics, reserve: reserve, log: log)
        features = DaemonFeatures(configuration, core, metrics: metrics.reminders)
        let cables = try Self.cables(configuration, core, features, metrics.cable)
        let connections = DaemonConnections(features: features.all, cables: cables)
        let erasing = ErasureStore(database: core.pools.requests)
        let erasures = ErasureWorker(store: erasing, log: log)
        let eraser = DeviceEraser(store: erasing, erasures: erasures, connections: connections, log: log)
        bus = Self.bus(configuration, postgres, core, features, observer: observer, metrics: metrics.bus, log: log)
        let history = OperationsHistory(configuration, core, features, metrics: metrics, readiness: report.readiness)
        let own: [any RouteCollection] = [
            CableController(cables: cables),
            OperationsController(readiness: report.readiness, metrics: report.metrics),
            DeviceController(eraser: eraser),
        ]
        let types = DaemonFeatures.types(without: configuration.leftOut)
        let routes =
            features.all.flatMap(\.routes) + own + history.routes + (configuration.echo ? [EchoController()] : [])
            // Describes all routes before it, so it comes last.
            + [DescriptionController(configuration, features: types)]
        application = Application(
            on: core.loops, limits: edge.limits, edge: edge.policy, tls: edge.tls,
            responder: Responder(
                on: core.pools.executor, mapError: ErrorMapping(metrics: metrics, log: log).abort, audience: .people
            ) { builder in
                for collection in routes { builder.register(collection: collection) }
            })
        let kicks = ConnectionKicks(
            daemon: core.id, application: application, database: core.pools.background,
            store: features.reminders.background, log: log)
        let dispatch = NotificationDispatch(
            features: features.all, bus: bus, kicks: kicks, connections: connections, log: log)
        listener = PostgresListener(
            configuration: postgres, channels: NotificationDispatch.channels(of: types), receive: dispatch.receive)
        let control = OperatorCommands(
            configuration, postgres, core, features, application, eraser: eraser, kicks: kicks, bus: metrics.bus)
        self.control = ServiceGroup([
            try ControlSocket(path: configuration.controlSocket, actions: control.actions, log: log)
        ])
        let upkeep: [any Service] = [
            StorageMonitor(
                store: StorageStore(
                    database: core.pools.otherDeliveries,
                    parts: DaemonFeatures.schemas(without: configuration.leftOut)),
                quota: core.storage, log: log),
            IdleMemory(),
        ]
        services = ServiceGroup(
            [DatabaseService(pools: core.pools), ListenerService(listener: listener)]
                + features.services(bus: bus, erasures: erasures) + upkeep + history.services(of: application))
        page = MetricsPage(
            product: metrics, rooms: core.rooms, cables: cables, features: features.all, storage: core.storage,
            pools: core.pools)
    }

    /// Returns the names of all statements of a daemon with these settings, for metrics.
    static func statementNames(_ configuration: Configuration) -> [String] {
        DaemonFeatures.types(without: configuration.leftOut).flatMap { $0.statementNames } + Database.statementNames
            + ConnectionKicks.statementNames
            + ErasureStore.statementNames + [RetentionStore.statementName] + StorageStore.statementNames
            + SampleStore.statementNames
            + DaemonStore.statementNames + NotifyBus.statementNames
    }

    /// Registers this daemon's services in the database, before it answers requests.
    @Sendable func enter() async throws {
        for feature in features.all { try await feature.enter() }
    }

    func metricsPage() async -> [UInt8] {
        await page.render(application)
    }

    func readiness(isDraining: Bool) async -> Readiness {
        Readiness(
            database: await database.isAnswering(), migrated: await database.isPrepared,
            draining: isDraining || application.isDraining,
            schedulerLateness: await features.reminders.scheduler.lateness)
    }

    /// Reads the state again. Called if notifications may have been lost, or if a clock was set.
    func resynchronise() async {
        await features.reminders.scheduler.resynchronise()
        features.notifications?.deliveriesWritten()
    }
}

extension Composition {
    private static func cables(
        _ configuration: Configuration, _ core: DaemonCore, _ features: DaemonFeatures, _ metrics: CableMetrics
    ) throws -> Cables {
        // This channel also has hints of a different feature, so it doesn't belong to one feature.
        let notifications = NotificationsChannel(
            source: features.reminders.source, hints: features.conversations?.conversations)
        return Cables(
            features.all.flatMap(\.channels) + [notifications], loops: core.loops.loops, rooms: core.rooms,
            verifier: try IdentityVerifier(configuration.tickets), limits: configuration.cable,
            messageRates: core.context.messageRates, metrics: metrics, executor: core.pools.executor)
    }

    private static func bus(
        _ configuration: Configuration, _ postgres: PostgresConfiguration, _ core: DaemonCore,
        _ features: DaemonFeatures, observer: DatabaseObserver, metrics: BusMetrics, log: Log
    ) -> BusService {
        let id = core.id
        return BusService(
            configuration.bus,
            DaemonInfo(
                id: id, host: Configuration.machineName, build: ProductVersion.number, language: BusRelay.language,
                bus: configuration.bus.busName),
            rooms: core.rooms, grace: configuration.presenceGrace, database: core.pools.background, metrics: metrics,
            log: log,
            removed: { for feature in features.all { await feature.writeAgain() } },
            bus: {
                if configuration.bus == .amqp, let broker = configuration.broker(name: "letsswitch \(id)") {
                    return AMQPBus(id, broker)
                }
                return NotifyBus(id, postgres, observer: observer)
            })
    }
}
