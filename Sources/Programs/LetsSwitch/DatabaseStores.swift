import Delivery
import Domain
import Messaging
import Observability
import Postgres
import Rooms
import Scheduling
import Schema
import Settings

/// The connection pools and the stores that use them.
///
/// Claims have a pool of their own, so that neither a flood of requests nor a hanging statement of the scheduler delays
/// a reminder.
struct DatabaseStores: Sendable {
    private static let claimEndPatience = Duration.milliseconds(250)

    /// The pool for requests.
    let requests: PostgresClient
    private let claimClient: PostgresClient
    /// The pool for the scheduler without claims, for acknowledgements and for notifications.
    let background: PostgresClient
    /// The pool for delivery workers and the bridge, so that much work there doesn't delay the scheduler's claims.
    private let deliveryClient: PostgresClient
    /// The pool for leases of deliveries that aren't urgent, so that a hanging one doesn't delay reminders.
    private let otherDeliveryClient: PostgresClient

    let schedule: ScheduleStore
    let days: DayStore
    let partners: PartnerStore
    let series: SeriesStore
    let rematches: RematchStore
    let invitations: InvitationStore
    let preferences: PreferenceStore
    let history: HistoryStore
    let erasures: ErasureStore
    let reminders: ReminderStore
    let calendars: CalendarStore
    let addresses: AddressStore
    let questions: QuestionStore
    let conversations: ConversationStore
    let blocks: BlockStore
    let storage: StorageMonitor
    let backgroundSchedule: ScheduleStore
    let scheduler: (claims: ReminderStore, reminders: ReminderStore, erasures: ErasureStore)
    let deliveries: DeliveryStore
    let attendance: AttendanceStore

    /// - Parameter configuration: The pool for requests. The other pools are derived from it.
    init(
        _ configuration: PostgresConfiguration, settings: Configuration, observer: any PostgresObserver, log: Log
    ) {
        var fair = configuration
        fair.maxConnectionsPerRequester = max(1, configuration.maxConnections * 3 / 4)
        requests = PostgresClient(configuration: fair, observer: observer)
        var few = configuration
        few.maxConnections = Configuration.connectionsPerPool
        background = PostgresClient(configuration: few, observer: observer)
        var claiming = few
        // The additional connection opens soon if the others are dead, because a reminder waits for it.
        claiming.endPatience = Self.claimEndPatience
        claiming.sessionSettings["letsswitch.claimer"] = "'\(ReminderStore.claimer)'"
        claimClient = PostgresClient(configuration: claiming, observer: observer)
        deliveryClient = PostgresClient(configuration: few, observer: observer)
        var single = few
        single.maxConnections = Configuration.connectionsOfOtherDeliveries
        otherDeliveryClient = PostgresClient(configuration: single, observer: observer)

        var limits = settings.storage
        limits.taskRetention = settings.schedule.horizon + settings.schedule.retention
        limits.sessionRetention = settings.schedule.retention
        limits.historyRetention = settings.conversations.retention
        let quota = StorageQuota(limits)
        schedule = ScheduleStore(database: requests, settings: settings.schedule, storage: quota)
        days = DayStore(database: requests)
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
        addresses = AddressStore(database: requests, storage: quota)
        questions = QuestionStore(database: requests, settings: settings.questions, storage: quota)
        conversations = ConversationStore(database: requests, settings: settings.conversations, storage: quota)
        blocks = BlockStore(database: requests, storage: quota)
        storage = StorageMonitor(store: StorageStore(database: otherDeliveryClient), quota: quota, log: log)
        backgroundSchedule = ScheduleStore(database: background, settings: settings.schedule)
        scheduler = (
            ReminderStore(database: claimClient), ReminderStore(database: background),
            ErasureStore(database: background, historyRetention: settings.conversations.retention)
        )
        deliveries = DeliveryStore(database: deliveryClient, others: otherDeliveryClient)
        attendance = AttendanceStore(database: deliveryClient)
    }

    /// The names of all statements, for metrics.
    static let statementNames =
        ReminderStore.statementNames + ScheduleStore.statementNames + DayStore.statementNames
        + [AddressStore.tokenStatementName] + PartnerStore.statementNames + SeriesStore.statementNames
        + RematchStore.statementNames + HistoryStore.statementNames + InvitationStore.statementNames
        + PreferenceStore.statementNames + ErasureStore.statementNames + DeliveryStore.statementNames
        + AttendanceStore.statementNames + AddressStore.statementNames + CalendarStore.statementNames
        + StorageStore.statementNames + QuestionStore.statementNames + ConversationStore.statementNames
        + BridgeStore.statementNames + ListenerStore.statementNames + BlockStore.statementNames

    /// Returns the store of messages that the daemon sends to the broker.
    func bridge(of daemon: DaemonID) -> BridgeStore {
        BridgeStore(database: deliveryClient, daemon: daemon.uuid)
    }

    /// The users who listen to conversations on a daemon. It doesn't share the pool with the attendance, whose statements wait for the
    /// locks of matches: a daemon that stops would wait behind them.
    func listeners(of daemon: DaemonID) -> ListenerStore {
        ListenerStore(database: background, daemon: daemon.uuid)
    }

    /// The executor for tasks that mostly wait for requests' queries.
    var executor: any TaskExecutor { requests.executor }

    /// Returns the connections of all pools, for metrics.
    func counts() async -> PostgresPoolCounts {
        var sum = await requests.counts()
        for client in clients.dropFirst() {
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
        for client in clients { await client.shutdown() }
    }

    private var clients: [PostgresClient] { [requests, claimClient, background, deliveryClient, otherDeliveryClient] }
}
