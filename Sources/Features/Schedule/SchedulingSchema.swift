import CEmbedded
package import Postgres

/// The tables of the schedule, reminders and matches, and the database functions for scheduling: `SQL/`.
package enum SchedulingSchema {
    /// The tables, for the first migration.
    package static let tables = [
        String(cString: EmbeddedFile.schedule_tables_sql.bytes),
        String(cString: EmbeddedFile.reminders_tables_sql.bytes),
        String(cString: EmbeddedFile.matches_tables_sql.bytes),
    ]

    package static let scripts = [
        script("basics", EmbeddedFile.basics_sql), script("zones", EmbeddedFile.zones_sql),
        script("tasks", EmbeddedFile.tasks_sql), script("partners", EmbeddedFile.partners_sql),
        script("moves", EmbeddedFile.moves_sql), script("series", EmbeddedFile.series_sql),
        script("absence", EmbeddedFile.absence_sql), script("invitations", EmbeddedFile.invitations_sql),
        script("preferences", EmbeddedFile.preferences_sql),
        script("history", EmbeddedFile.history_sql),
        script("days", EmbeddedFile.days_sql),
        script("reminders", EmbeddedFile.reminders_sql), script("claims", EmbeddedFile.claims_sql),
        script("rooms", EmbeddedFile.rooms_sql), script("devices", EmbeddedFile.devices_sql),
        script("calendar", EmbeddedFile.calendar_sql), script("quotas", EmbeddedFile.quotas_sql),
    ]

    private static func script(_ name: String, _ sql: EmbeddedFile) -> PostgresFunctions.Script {
        PostgresFunctions.Script(name: name, sql: String(cString: sql.bytes))
    }
}
