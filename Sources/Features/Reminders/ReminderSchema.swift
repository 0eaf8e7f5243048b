import CEmbedded
import Features

/// The tables and database functions of reminders: `SQL/`.
enum ReminderSchema {
    static let schema = FeatureSchema(
        "reminders",
        tables: [EmbeddedFile.reminders_tables_sql],
        functions: [
            ("reminders", EmbeddedFile.reminders_sql),
            ("claims", EmbeddedFile.claims_sql),
            ("deliveries", EmbeddedFile.reminder_deliveries_sql),
            ("hooks", EmbeddedFile.schedule_hooks_sql),
            ("retention", EmbeddedFile.reminders_retention_sql),
            ("export", EmbeddedFile.reminders_export_sql),
        ])
}
