import Access
import Domain
import Features
import Matches
import Notifications
import Observability
import Postgres
import Reminders
import Rooms
import Settings
import Sockets

/// The parts of the daemon below its features, and the features' shared context.
struct DaemonCore: Sendable {
    let id = DaemonID()
    let pools: DatabasePools
    let database: Database
    let storage: StorageQuota
    let loops: EventLoopGroup
    let rooms: Rooms
    /// `nil` if notifications are left out.
    let notifications: NotificationsFeature?
    let attendance: AttendanceWriter
    let context: FeatureContext

    /// - Parameters:
    ///   - postgres: The pool for requests. The other pools are derived from it.
    ///   - reserve: The part of the stopping time that deliveries can't use, because other services stop after them.
    init(
        _ configuration: Configuration, _ postgres: PostgresConfiguration, observer: DatabaseObserver,
        metrics: ProductMetrics, reserve: Duration, log: Log
    ) throws {
        pools = DatabasePools(
            postgres, connectionsPerPool: Configuration.connectionsPerPool,
            connectionsOfOtherDeliveries: Configuration.connectionsOfOtherDeliveries, claimer: ReminderStore.claimer,
            observer: observer)
        database = Database(pools, refusals: observer.refusals)
        storage = StorageQuota(configuration.storageLimits)
        notifications =
            configuration.leftOut.contains(.notifications)
            ? nil
            : try NotificationsFeature(
                configuration.providers, reserve: reserve, observer: metrics.reminders, pools: pools,
                storage: storage, log: log)
        let outbox = notifications
        attendance = AttendanceWriter(
            store: AttendanceStore(database: pools.deliveries), by: id.uuid, log: log,
            written: { outbox?.eventWritten() }, rushIsOver: AllocatorArenas.releaseFreePages)
        loops = try EventLoopGroup(count: configuration.loops)
        rooms = Rooms(
            loops: loops.loops, anyRoomIsOpen: configuration.matches.openRooms, aleFrame: AleFrame.aleResponse,
            grace: configuration.presenceGrace, report: attendance.report)
        context = FeatureContext(
            daemon: id, loops: loops.loops, rooms: rooms, keys: database.roomKeys,
            identities: try IdentityVerifier(configuration.tickets),
            messageRates: DeviceMessageRates(
                perSecond: configuration.cable.messageRate, burst: configuration.cable.messageBurst),
            presenceGrace: configuration.presenceGrace, pools: pools, database: database, storage: storage,
            quotas: metrics.quotas, log: log)
    }
}
