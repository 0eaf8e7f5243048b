import CEmbedded
import Domain
import Features

/// The tables and database functions of the schedule: `SQL/`.
enum ScheduleSchema {
    static let schema = FeatureSchema(
        "schedule",
        tables: [EmbeddedFile.schedule_tables_sql],
        functions: [
            ("locks", EmbeddedFile.slot_locks_sql),
            ("zones", EmbeddedFile.zones_sql),
            ("tasks", EmbeddedFile.tasks_sql),
            ("due", EmbeddedFile.due_sql),
            ("registration", EmbeddedFile.registration_sql),
            ("rooms", EmbeddedFile.rooms_sql),
            ("partners", EmbeddedFile.partners_sql),
            ("absence", EmbeddedFile.absence_sql),
            ("moves", EmbeddedFile.moves_sql),
            ("series", EmbeddedFile.series_sql),
            ("invitations", EmbeddedFile.invitations_sql),
            ("preferences", EmbeddedFile.preferences_sql),
            ("history", EmbeddedFile.history_sql),
            ("days", EmbeddedFile.days_sql),
            ("calendar", EmbeddedFile.calendar_sql),
            ("events", EmbeddedFile.events_sql),
            ("notices", EmbeddedFile.notices_sql),
            ("erasure", EmbeddedFile.schedule_erasure_sql),
            ("retention", EmbeddedFile.schedule_retention_sql),
            ("export", EmbeddedFile.schedule_export_sql),
        ],
        limited: [
            .tasks: ["schedule.task"], .series: ["schedule.series"], .calendars: ["schedule.calendar"],
            .preferences: ["schedule.preference"],
        ])
}
