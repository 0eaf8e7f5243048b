import CEmbedded
import Features
import Postgres

/// The tables and database functions of the schedule: `SQL/`.
enum ScheduleSchema {
    static let tables = String(cString: EmbeddedFile.schedule_tables_sql.bytes)

    static let scripts: [PostgresFunctions.Script] = [
        .init("basics", EmbeddedFile.basics_sql),
        .init("zones", EmbeddedFile.zones_sql),
        .init("tasks", EmbeddedFile.tasks_sql),
        .init("partners", EmbeddedFile.partners_sql),
        .init("moves", EmbeddedFile.moves_sql),
        .init("series", EmbeddedFile.series_sql),
        .init("invitations", EmbeddedFile.invitations_sql),
        .init("preferences", EmbeddedFile.preferences_sql),
        .init("history", EmbeddedFile.history_sql),
        .init("days", EmbeddedFile.days_sql),
        .init("devices", EmbeddedFile.devices_sql),
        .init("calendar", EmbeddedFile.calendar_sql),
        .init("quotas", EmbeddedFile.quotas_sql),
    ]
}
