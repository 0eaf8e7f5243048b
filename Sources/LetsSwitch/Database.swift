import Postgres
import Sockets

/// The database as the daemon uses it: three pools of connections, the stores over them, and whether all of it is ready.
///
/// The scheduler has a pool of its own, so that a flood of requests never stands between a reminder and its minute.
actor Database {
    /// How long an answer to "are you there?" is believed.
    private static let readinessLifetime = Duration.seconds(1)
    private static let readinessTimeout = Duration.seconds(2)
    private static let ping = PostgresStatement(name: "ping", sql: "SELECT 1")
    /// Changes nothing, and is refused where nothing may be changed.
    private static let writePing = PostgresStatement(
        name: "write_ping", sql: "UPDATE letsswitch.claim SET expires_at = expires_at WHERE false")

    nonisolated let schedule: ScheduleStore
    nonisolated let reminders: ReminderStore
    nonisolated let calendars: CalendarStore
    /// What the scheduler, the acknowledgements and the notifications use.
    nonisolated let background: PostgresClient
    /// For the couriers of the channels: one that has much to do doesn't stand before the scheduler's claims.
    private nonisolated let deliveryClient: PostgresClient
    nonisolated let deliveries: DeliveryStore
    nonisolated let addresses: AddressStore
    private nonisolated let requests: PostgresClient
    private nonisolated let backgroundReminders: ReminderStore
    private nonisolated let backgroundSchedule: ScheduleStore

    private let refusals: DatabaseRefusals
    private var zones: TimeZoneNames?
    private var answered: (wasThere: Bool, at: MonotonicTime)?
    /// The question that is under way: however many ask, the database is asked once.
    private var asking: Task<Bool, Never>?

    init(
        _ configuration: PostgresConfiguration, settings: Configuration, channels: ActiveChannels,
        observer: any PostgresObserver, refusals: DatabaseRefusals
    ) {
        self.refusals = refusals
        requests = PostgresClient(configuration: configuration, observer: observer)
        var few = configuration
        few.maxConnections = 2
        background = PostgresClient(configuration: few, observer: observer)
        let times = ScheduleSettings(
            reminderLead: settings.reminderLead / .seconds(1), roomDuration: settings.roomDuration / .seconds(1))
        schedule = ScheduleStore(database: requests, settings: times, channels: channels)
        reminders = ReminderStore(database: requests)
        calendars = CalendarStore(database: requests)
        backgroundSchedule = ScheduleStore(database: background, settings: times)
        backgroundReminders = ReminderStore(database: background, channels: channels)
        deliveryClient = PostgresClient(configuration: few, observer: observer)
        deliveries = DeliveryStore(database: deliveryClient)
        addresses = AddressStore(database: requests)
    }

    /// For tasks that do little but wait for requests' queries.
    nonisolated var executor: any TaskExecutor { requests.executor }

    nonisolated var schedulerStores: (schedule: ScheduleStore, reminders: ReminderStore) {
        (backgroundSchedule, backgroundReminders)
    }

    /// Brings the schema up to date and reads what is read once.
    ///
    /// - Returns: The migrations applied now.
    func prepare() async throws -> [Int] {
        let applied = try await background.migrate(ScheduleMigrations.all)
        zones = try await backgroundSchedule.timeZoneNames()
        return applied
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
    func answers() async -> Bool {
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
        for other in [await background.counts(), await deliveryClient.counts()] {
            sum.connections += other.connections
            sum.connecting += other.connecting
            sum.inFlight += other.inFlight
            sum.waiting += other.waiting
        }
        return sum
    }

    func shutdown() async {
        await requests.shutdown()
        await background.shutdown()
        await deliveryClient.shutdown()
    }
}
