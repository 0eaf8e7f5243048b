import CEmbedded
import Features
import Postgres

/// The tables and database functions of reminders: `SQL/`.
enum ReminderSchema {
    static let tables = String(cString: EmbeddedFile.reminders_tables_sql.bytes)

    static let scripts: [PostgresFunctions.Script] = [
        .init("reminders", EmbeddedFile.reminders_sql),
        .init("claims", EmbeddedFile.claims_sql),
    ]
}
