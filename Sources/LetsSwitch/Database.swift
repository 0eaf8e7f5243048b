import Basics
import Delivery
import Domain
import Messaging
import Observability
import Postgres
import Rooms
import Scheduling
import Schema
import Settings

/// The database as the daemon uses it: five pools of connections, the stores over them, and whether all of it is ready.
///
/// Claiming has a pool of its own, so that neither a flood of requests nor another statement of the scheduler's that hangs ever
/// stands between a reminder and its minute.
actor Database {
    /// How long an answer to "are you there?" is believed.
    private static let readinessLifetime = Duration.seconds(1)
    private static let claimEndPatience = Duration.milliseconds(250)
    private static let readinessTimeout = Duration.seconds(2)
    private static let ping = PostgresStatement(name: "ping", sql: "SELECT 1")
    /// Changes nothing, and is refused where nothing may be changed.
    private static let writePing = PostgresStatement(
        name: "write_ping", sql: "UPDATE letsswitch.claim SET expires_at = expires_at WHERE false")

    private static let roomKeySecret = PostgresStatement(
        name: "room_key_secret",
        sql: "SELECT encode(value, 'hex') AS value FROM letsswitch.secret WHERE name = 'room-keys'")
    /// The names that metrics go by.
    static let statementNames = [roomKeySecret.name]

    nonisolated let schedule: ScheduleStore
    nonisolated let partners: PartnerStore
    nonisolated let series: SeriesStore
    nonisolated let rematches: RematchStore
    nonisolated let invitations: InvitationStore
    nonisolated let preferences: PreferenceStore
    nonisolated let history: HistoryStore
    nonisolated let erasures: ErasureStore
    nonisolated let reminders: ReminderStore
    nonisolated let calendars: CalendarStore
    /// What the scheduler uses but for claiming, the acknowledgements and the notifications.
    nonisolated let background: PostgresClient
    private nonisolated let claimClient: PostgresClient
    /// For the delivery workers and the bridge: one that has much to do doesn't stand before the scheduler's claims.
    private nonisolated let deliveryClient: PostgresClient
    /// For the workers' leases of what isn't urgent: reminders' never stand behind one that hangs.
    private nonisolated let otherDeliveryClient: PostgresClient
    nonisolated let deliveries: DeliveryStore
    nonisolated let addresses: AddressStore
    nonisolated let attendance: AttendanceStore
    nonisolated let questions: QuestionStore
    nonisolated let conversations: ConversationStore
    nonisolated let blocks: BlockStore
    nonisolated let storage: StorageMonitor
    private nonisolated let requests: PostgresClient
    private nonisolated let backgroundReminders: ReminderStore
    private nonisolated let claims: ReminderStore
    private nonisolated let backgroundSchedule: ScheduleStore
    private nonisolated let backgroundErasures: ErasureStore
    /// The same for all daemons on this database, once it is ready.
    nonisolated let roomKeys = RoomKeys()

    private let refusals: DatabaseRefusals
    private var zones: TimeZoneNames?
    private var answered: (wasThere: Bool, at: MonotonicTime)?
    /// The question that is under way: however many ask, the database is asked once.
    private var asking: Task<Bool, Never>?

    init(
        _ configuration: PostgresConfiguration, settings: Configuration,
        observer: any PostgresObserver, refusals: DatabaseRefusals, log: Log
    ) {
        let quota = StorageQuota(settings.storage)
        self.refusals = refusals
        requests = PostgresClient(configuration: configuration, observer: observer)
        var few = configuration
        few.maxConnections = Configuration.connectionsPerPool
        background = PostgresClient(configuration: few, observer: observer)
        var claiming = few
        // The one connection more comes soon, when the others are dead: a reminder waits for it.
        claiming.endPatience = Self.claimEndPatience
        claiming.sessionSettings["letsswitch.claimer"] = "'\(ReminderStore.claimer)'"
        claimClient = PostgresClient(configuration: claiming, observer: observer)
        schedule = ScheduleStore(database: requests, settings: settings.schedule, storage: quota)
        partners = PartnerStore(database: requests, settings: settings.schedule)
        series = SeriesStore(
            database: requests, settings: settings.schedule, storage: quota,
            unusedAfter: settings.storage.addressRetention)
        rematches = RematchStore(database: requests, settings: settings.schedule, grace: settings.presenceGrace)
        invitations = InvitationStore(database: requests)
        preferences = PreferenceStore(database: requests, storage: quota)
        history = HistoryStore(database: requests)
        erasures = ErasureStore(database: requests)
        reminders = ReminderStore(database: requests)
        calendars = CalendarStore(database: requests, storage: quota)
        backgroundSchedule = ScheduleStore(database: background, settings: settings.schedule)
        backgroundErasures = ErasureStore(database: background, historyRetention: settings.conversations.retention)
        backgroundReminders = ReminderStore(database: background)
        claims = ReminderStore(database: claimClient)
        deliveryClient = PostgresClient(configuration: few, observer: observer)
        var single = few
        single.maxConnections = Configuration.connectionsOfOtherDeliveries
        otherDeliveryClient = PostgresClient(configuration: single, observer: observer)
        deliveries = DeliveryStore(database: deliveryClient, others: otherDeliveryClient)
        attendance = AttendanceStore(database: deliveryClient)
        addresses = AddressStore(database: requests, storage: quota)
        questions = QuestionStore(database: requests, settings: settings.questions, storage: quota)
        conversations = ConversationStore(
            database: requests, settings: settings.conversations, storage: quota)
        blocks = BlockStore(database: requests, storage: quota)
        storage = StorageMonitor(
            store: StorageStore(database: requests), quota: quota, log: log)
    }

    /// What a daemon carries to the broker.
    nonisolated func bridge(of daemon: DaemonID) -> BridgeStore {
        BridgeStore(database: deliveryClient, daemon: daemon.uuid)
    }

    /// Who listens to conversations on a daemon.
    nonisolated func listeners(of daemon: DaemonID) -> ListenerStore {
        ListenerStore(database: deliveryClient, daemon: daemon.uuid)
    }

    /// For tasks that do little but wait for requests' queries.
    nonisolated var executor: any TaskExecutor { requests.executor }

    nonisolated var schedulerStores: (claims: ReminderStore, reminders: ReminderStore, erasures: ErasureStore) {
        (claims, backgroundReminders, backgroundErasures)
    }

    /// Brings the schema up to date and reads what is read once.
    ///
    /// - Parameter enter: What has to stand in the database before the first request is answered.
    func prepare(_ enter: @Sendable () async throws -> Void) async throws -> PostgresSchema.Change {
        let change = try await background.migrate(DatabaseSchema.current)
        try await enter()
        let secret = try await background.query(Self.roomKeySecret).first?.string("value")
        if let secret = secret.flatMap(HexText.decode) { roomKeys.share(secret) }
        zones = try await backgroundSchedule.timeZoneNames()
        return change
    }

    /// The zones that requests may name.
    ///
    /// - Throws: `503` before ``prepare()`` has succeeded.
    func timeZoneNames() throws(RequestError) -> TimeZoneNames {
        guard let zones else { throw .databaseUnavailable }
        return zones
    }

    var isPrepared: Bool { zones != nil }

    /// Whether the database answers now, and can be written; asked at most once a second, and given two.
    func isAnswering() async -> Bool {
        if let answered, MonotonicTime.now() - answered.at < Self.readinessLifetime { return answered.wasThere }
        if let asking { return await asking.value }
        let statement = isPrepared ? Self.writePing : Self.ping
        let asking = Task { [requests] in
            await (try? requests.query(statement, [], timeout: Self.readinessTimeout)) != nil
        }
        self.asking = asking
        let wasThere = await asking.value && !refusals.isRecent(at: .now())
        self.asking = nil
        answered = (wasThere, .now())
        return wasThere
    }

    /// Connections of all pools, for metrics.
    func counts() async -> PostgresPoolCounts {
        var sum = await requests.counts()
        for client in [claimClient, background, deliveryClient, otherDeliveryClient] {
            let other = await client.counts()
            sum.connections += other.connections
            sum.connecting += other.connecting
            sum.ending += other.ending
            sum.inFlight += other.inFlight
            sum.waiting += other.waiting
        }
        return sum
    }

    func shutdown() async {
        await requests.shutdown()
        await claimClient.shutdown()
        await background.shutdown()
        await deliveryClient.shutdown()
        await otherDeliveryClient.shutdown()
    }
}
