import Basics
import Control
import Daemons
import Features
import Notifications
import Postgres
import Reminders
import Schedule
import Schema
import Server
import Settings

/// The operators' commands of this daemon, with the parts that they use.
struct OperatorCommands: Sendable {
    let actions: DaemonControl

    init(
        _ configuration: Configuration, _ postgres: PostgresConfiguration, _ core: DaemonCore,
        _ features: DaemonFeatures, _ application: Application, eraser: DeviceEraser, kicks: ConnectionKicks,
        bus: BusMetrics
    ) {
        actions = DaemonControl(
            application: application,
            ending: RoomEnding(core.rooms, application, store: features.reminders.store),
            reminder: TestReminder(
                features.reminders.streams, features.notifications?.deliveries,
                lead: configuration.schedule.reminderLead),
            exports: ExportStore(postgres), functions: FunctionsRevision(database: core.pools.background),
            eraser: eraser, kicks: kicks, drain: ConnectionDrain(application, keeping: .operators),
            others: { bus.others })
    }
}
