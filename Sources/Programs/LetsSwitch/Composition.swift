import APIDescription
import Access
import ActionCable
import Basics
import Bridge
import Control
import Daemons
import Delivery
import Domain
import FoundationEssentials
import LiveConversations
import LiveQuestions
import LiveSchedule
import Messaging
import Observability
import Pages
import Postgres
import Rooms
import Scheduling
import Schema
import Server
import Settings
import Sockets

/// The composition of the daemon's parts. Only this type knows all of them.
struct Composition: Sendable {
    /// The functions that report the state of the whole daemon to operators.
    struct Report: Sendable {
        let readiness: @Sendable () async -> Readiness
        let metrics: @Sendable () async -> [UInt8]
    }

    let database: Database
    let application: Application
    let deliveries: DeliveryService
    let scheduler: Scheduler
    let bus: BusService
    let listener: PostgresListener
    /// `nil` if no broker is configured.
    let bridge: ConversationBridge?
    /// The services for operators' commands. They work with and without a database.
    let control: ServiceGroup
    private let listeners: ListenerWriter
    /// The services that use the database. Each depends only on services before it.
    let services: ServiceGroup
    private let page: MetricsPage

    /// - Parameters:
    ///   - postgres: The pool for requests. The other pools are derived from it.
    ///   - observer: Receives the events of connections and statements.
    ///   - reserve: The part of the services' ending time that deliveries leave to the services after them.
    init(
        _ configuration: Configuration, _ postgres: PostgresConfiguration, observer: DatabaseObserver, edge: ServerEdge,
        metrics: ProductMetrics, log: Log, reserve: Duration, report: Report
    ) throws {
        var postgres = postgres
        postgres.sessionSettings = DatabaseSchema.sessionSettings
        let stores = DatabaseStores(postgres, settings: configuration, observer: observer, log: log)
        let database = Database(stores, refusals: observer.refusals)
        let deliveries = try DeliveryService(
            configuration.providers, store: stores.deliveries, addresses: stores.addresses, log: log
        ) { count in
            metrics.scheduling.reminders.add(.delivered, count)
        }
        let id = DaemonID()
        let attendance = AttendanceWriter(
            store: stores.attendance, by: id.uuid, log: log, written: { deliveries.wake(.webhook) },
            rushIsOver: AllocatorArenas.releaseFreePages)
        let loops = try EventLoopGroup(count: configuration.loops)
        let rooms = Rooms(
            loops: loops.loops, anyRoomIsOpen: configuration.openRooms, aleFrame: AleFrame.aleResponse,
            grace: configuration.presenceGrace, report: attendance.report)
        let acknowledgements = Acknowledgements(
            store: stores.scheduler.reminders, metrics: metrics.scheduling, log: log)
        let streams = EventStreams(
            loops: loops.loops, rooms: rooms, keys: database.roomKeys,
            limitPerDevice: configuration.maxStreamsPerDevice, metrics: metrics.streams
        ) { reminders in
            Task { await acknowledgements.add(reminders) }
        }
        let identities = try IdentityVerifier(configuration.tickets)
        let messageRates = DeviceMessageRates(
            perSecond: configuration.cable.messageRate, burst: configuration.cable.messageBurst)
        let questions = Questions(
            store: stores.questions, rooms: rooms, keys: database.roomKeys, loops: loops.loops,
            executor: stores.executor, sessionSize: configuration.sessionSize,
            questionRates: QuestionRates(questionsPerSession: configuration.questions.questionsPerSession),
            messageRates: messageRates,
            metrics: metrics.questions, log: log, now: identities.now)
        let sessions = SessionAccess(
            questions: questions, hasOpenSession: configuration.openQuestions, identities: identities)
        let conversations = Conversations(
            store: stores.conversations, rooms: ConversationRooms(rooms, keys: database.roomKeys),
            loops: loops.loops, executor: stores.executor, rates: messageRates, metrics: metrics.conversations,
            log: log, now: identities.now)
        let listeners = ListenerWriter(
            store: stores.listeners(of: id), audience: conversations.audience, log: log)
        let changes = ScheduleChanges(client: stores.background, streams: streams, log: log)
        let erasures = ErasureWorker(store: stores.erasures, log: log) { await changes.publish($0) }
        let scheduler = Scheduler(
            SchedulerWork(
                claims: stores.scheduler.claims, store: stores.scheduler.reminders,
                erasures: stores.scheduler.erasures, retention: configuration.schedule.retention / .seconds(1),
                rooms: rooms, audience: streams, log: log),
            metrics: metrics.scheduling, claimed: { deliveries.wake() })
        let news = TaskNews(
            changes: changes, metrics: metrics.scheduling, log: log, due: { await scheduler.registered(dueAt: $0) },
            eventWritten: { deliveries.wake(.webhook) })
        let series = SeriesWorker(store: stores.series, log: log, made: news.seriesChanged)
        let rematches = RematchWorker(store: stores.rematches, invitations: stores.invitations, log: log) { pairs in
            metrics.scheduling.pairs.add(pairs)
            deliveries.wake(.webhook)
        }
        let bus = BusService(
            configuration.bus,
            DaemonInfo(
                id: id, host: Configuration.machineName, build: ProductVersion.number, language: BusRelay.language,
                bus: configuration.bus.busName),
            rooms: rooms, grace: configuration.presenceGrace, database: stores.background, metrics: metrics.bus,
            log: log,
            removed: {
                await listeners.writeAllAgain()
                await attendance.reportAgain(rooms.callRoll)
            },
            bus: { [postgres] in
                if configuration.bus == .amqp, let broker = configuration.broker(name: "letsswitch \(id)") {
                    return AMQPBus(id, broker)
                }
                return NotifyBus(id, postgres, observer: observer)
            })
        let bridgeMetrics = configuration.amqpURL.map { _ in BridgeMetrics() }
        let bridge = bridgeMetrics.flatMap { bridgeMetrics in
            configuration.amqpURL.map { url in
                ConversationBridge(
                    url, authorities: configuration.amqpCAFile, name: "letsswitch \(id)",
                    store: stores.bridge(of: id), metrics: bridgeMetrics, log: log,
                    receive: conversations.responder.receive)
            }
        }
        let matches = MatchRooms(
            rooms: rooms, keys: database.roomKeys, policy: .match(capacity: configuration.roomSize),
            metrics: metrics.rooms, find: stores.reminders.findRoom, found: { await scheduler.found($0) },
            findTasks: stores.reminders.tasks(ofRoom:))
        let reminders = ReminderSource(
            streams: streams, ready: { _ = try await database.timeZoneNames() }, backlog: stores.reminders.backlog)
        let cables = Cables(
            [
                RoomChannel(matches: matches), RemindersChannel(source: reminders),
                NotificationsChannel(source: reminders, conversations: conversations),
                QuestionsChannel(questions: questions, hasOpenSession: configuration.openQuestions),
                ConversationChannel(conversations: conversations),
            ],
            loops: loops.loops, rooms: rooms, verifier: try IdentityVerifier(configuration.tickets),
            limits: configuration.cable, messageRates: messageRates, metrics: metrics.cable, executor: stores.executor
        )
        let end = { @Sendable (device: DeviceID) in
            cables.disconnect(device)
            questions.end(device)
            conversations.end(device)
            streams.end(device)
            matches.end(device)
        }
        // Without operators' addresses, nobody can look at the samples.
        let sampler =
            configuration.operationsListen.isEmpty
            ? nil
            : OperationsSampler(
                id: id, store: SampleStore(database: stores.background), others: { metrics.bus.others })
        let eraser = DeviceEraser(
            store: stores.erasures, changes: changes, erasures: erasures, log: log, erased: end)
        let responder = Responder(
            on: stores.executor, mapError: ErrorMapping(metrics: metrics, log: log).abort, audience: .people
        ) { routes in
            let zones = { @Sendable () async throws(RequestError) in try await database.timeZoneNames() }
            // The most frequent route comes first: the app asks for a room repeatedly when it is refused.
            routes.register(
                collection: AleController(
                    matches,
                    defaultHandler: configuration.openQuestions ? OpenSessionSockets(sessions) : nil))
            routes.register(collection: CableController(cables: cables))
            routes.register(
                collection: OperationsController(
                    readiness: report.readiness, metrics: report.metrics))
            routes.register(
                collection: TaskController(
                    store: stores.schedule, partners: stores.partners,
                    publicURL: configuration.providers.publicURL, zones: zones, news: news))
            routes.register(
                collection: SeriesController(
                    store: stores.series,
                    ending: SeriesEnding(store: stores.series, partners: stores.partners, news: news),
                    zones: zones, news: news, log: log))
            routes.register(
                collection: InvitationController(
                    store: stores.invitations, schedule: stores.schedule,
                    publicURL: configuration.providers.publicURL, zones: zones, news: news))
            routes.register(collection: PreferenceController(store: stores.preferences, log: log))
            routes.register(collection: HistoryController(store: stores.history))
            routes.register(collection: ScheduleController(store: stores.days, zones: zones))
            routes.register(
                collection: DeviceController(eraser: eraser))
            routes.register(collection: TokenController(addresses: stores.addresses, log: log))
            if let server = configuration.providers.ntfy.server {
                routes.register(collection: NtfyController(server: server, addresses: stores.addresses, log: log))
            }
            routes.register(
                collection: WebPushController(configuration.providers.webPush, store: stores.addresses, log: log))
            routes.register(
                collection: CalendarController(
                    store: stores.calendars, publicURL: configuration.providers.publicURL, log: log))
            routes.register(collection: EventStreamController(reminders))
            routes.register(collection: QuestionSocketController(sessions))
            routes.register(
                collection: QuestionsController(
                    sessions, pages: QuestionPages(sessions, publicURL: configuration.providers.publicURL), log: log))
            routes.register(
                collection: ConversationSocketController(conversations: conversations, identities: identities))
            routes.register(
                collection: UserController(conversations: conversations, identities: identities, log: log))
            routes.register(
                collection: ConversationsController(conversations: conversations, identities: identities))
            routes.register(collection: MessageController(conversations: conversations, identities: identities))
            routes.register(
                collection: PartnerController(
                    store: stores.conversations, identities: identities, changes: changes, log: log))
            routes.register(
                collection: BlockController(store: stores.blocks, identities: identities, log: log) {
                    deliveries.wake(.webhook)
                })
            routes.register(
                collection: PageController(
                    PageFacts(
                        lead: configuration.schedule.reminderLead, roomDuration: configuration.schedule.roomDuration,
                        lateJoin: configuration.schedule.lateJoin,
                        offersPush: configuration.providers.webPush.contact != nil)))
            if let sampler {
                routes.register(
                    collection: HistoryPageController(
                        sampler: sampler, providers: configuration.providers.names, host: Configuration.machineName,
                        build: ProductVersion.number, readiness: report.readiness,
                        bus: {
                            let (kind, isConnected) = metrics.bus.inUse
                            return (kind.rawValue, isConnected)
                        }))
            }
            if configuration.echo { routes.register(collection: EchoController()) }
            routes.register(collection: DescriptionController(configuration))
        }
        let application = Application(
            on: loops, limits: edge.limits, edge: edge.policy, tls: edge.tls, responder: responder)
        let kicks = ConnectionKicks(
            daemon: id, application: application, database: stores.background, log: log,
            tasksInRooms: stores.scheduler.reminders.tasksInRooms,
            devicesOfTasks: stores.scheduler.reminders.devices)
        let publish: @Sendable (Rematch) -> Void = { rematch in
            streams.publish(rematch)
            if let room = rematch.from {
                // Sent before the room closes, through the same queue.
                rooms.announce(rematch, in: room)
                Task { await scheduler.dissolved(room) }
            }
        }
        let missed = MissedRematches(store: stores.rematches, log: log, publish: publish)
        let listener = PostgresListener(
            configuration: postgres,
            channels: Self.channels
        ) { event in
            switch event {
            case .listening:
                Task {
                    // Runs before rooms that no longer exist are closed.
                    await missed.listening()
                    await scheduler.resynchronise()
                }
                deliveries.wake()
                Task { await bus.lookAgain() }
                Task { await questions.feeds.resynchronise() }
                conversations.resynchronise()
                bridge?.lookAgain()
            case .notification(ReminderStore.dueChannel, let payload):
                if let epoch = Double(payload) { Task { await scheduler.expect(epoch) } }
            case .notification(ReminderStore.claimsChannel, let payload):
                if let batch = Int(payload) { Task { await scheduler.claimedElsewhere(batch) } }
                deliveries.wake()
            case .notification(PartnerStore.dissolvedChannel, let payload):
                if let room = UUID(uuidString: payload) { Task { await scheduler.dissolved(room) } }
            case .notification(RematchStore.channel, let payload):
                if let rematch = Rematch(notification: payload) { publish(rematch) }
            case .notification(DeliveryStore.notifications, let payload):
                if let name = ProviderName(rawValue: payload) { deliveries.wake(name) }
            case .notification(DaemonStore.channel, let payload):
                Task { await bus.lookAgain(of: payload) }
            case .notification(QuestionStore.channel, let payload):
                Task { await questions.feeds.receive(payload) }
            case .notification(ConnectionKicks.channel, let payload):
                Task { await kicks.receive(payload) }
            case .notification(ErasureStore.channel, let payload):
                end(DeviceID(stored: payload))
            case .notification(MatchRooms.erasedTasksChannel, let payload):
                matches.endTasks(payload)
            case .notification(ConversationStore.channel, let payload):
                Task { await conversations.feeds.receive(payload) }
                bridge?.lookAgain()
            case .notification(ConversationStore.changesChannel, let payload):
                Task { await conversations.changes.receive(payload) }
            case .notification(_, let payload):
                Task { await changes.receive(payload) }
                // A task of another daemon: the webhook may have an event to send.
                deliveries.wake(.webhook)
            case .lost(let message):
                log.warning("lost the connection for notifications", ["error": .string(message)])
                Task { await missed.lost() }
            }
        }
        control = ServiceGroup([
            try ControlSocket(
                path: configuration.controlSocket,
                actions: DaemonControl(
                    application: application,
                    ending: RoomEnding(rooms, application, closeInDatabase: stores.reminders.closeRoom),
                    reminder: TestReminder(streams, deliveries, lead: configuration.schedule.reminderLead),
                    exports: ExportStore(postgres), functions: FunctionsRevision(database: stores.background),
                    erase: eraser.erase, kicks: kicks, drain: ConnectionDrain(application, keeping: .operators),
                    others: { metrics.bus.others }),
                log: log)
        ])
        self.application = application
        self.database = database
        self.deliveries = deliveries
        self.scheduler = scheduler
        self.bus = bus
        self.listener = listener
        self.bridge = bridge
        let sampling = sampler.map {
            SamplingService(
                sampler: $0,
                sources: ReadingSources(
                    application: application, rooms: rooms, metrics: metrics, providers: deliveries.metrics,
                    connections: { await stores.counts() }))
        }
        self.listeners = listeners
        let before: [any Service] = [
            DatabaseService(stores: stores), ListenerService(listener: listener),
            AcknowledgementService(streams: streams, acknowledgements: acknowledgements),
            EarlyEndingService(service: deliveries, reserve: reserve),
            // The bus sends its goodbye after the attendance of members who left is written.
            bus, AttendanceService(rooms: rooms, writer: attendance),
            erasures, series, rematches, scheduler, stores.storage, listeners, IdleMemory(),
        ]
        services = ServiceGroup(before + (bridge.map { [$0] } ?? []) + (sampling.map { [$0] } ?? []))
        page = MetricsPage(
            product: metrics, rooms: rooms, cables: cables, questions: questions.audience,
            providers: deliveries.metrics, bridge: bridgeMetrics, storage: stores.storage.quota,
            connections: { await stores.counts() })
    }

    /// The NOTIFY channels that this daemon reads. Other programs may use them, too.
    static let channels = [
        ReminderStore.dueChannel, ReminderStore.claimsChannel, DeliveryStore.notifications, ScheduleChanges.channel,
        DaemonStore.channel, QuestionStore.channel, ErasureStore.channel, ConversationStore.channel,
        ConversationStore.changesChannel, PartnerStore.dissolvedChannel, RematchStore.channel,
        ConnectionKicks.channel, MatchRooms.erasedTasksChannel,
    ]

    /// The names of all statements, for metrics.
    static let statementNames =
        DatabaseStores.statementNames + Database.statementNames + ConnectionKicks.statementNames
        + SampleStore.statementNames + DaemonStore.statementNames + NotifyBus.statementNames

    /// Registers this daemon's services in the database, before it answers requests.
    @Sendable func enter() async throws {
        try await deliveries.enter()
        try await bridge?.enter()
        try await listeners.enter()
    }

    func metricsPage() async -> [UInt8] {
        await page.render(application)
    }

    func readiness(isDraining: Bool) async -> Readiness {
        Readiness(
            database: await database.isAnswering(), migrated: await database.isPrepared,
            draining: isDraining || application.isDraining,
            schedulerLateness: await scheduler.lateness)
    }

    /// Reads the state again, because notifications may have been lost or a clock was set.
    func resynchronise() async {
        await scheduler.resynchronise()
        deliveries.wake()
    }
}

/// A request for `/socket` without an id enters the open session.
extension OpenSessionSockets: DefaultSocketHandler {}
