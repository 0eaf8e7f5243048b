import CEmbedded
import Features
import Postgres

/// The database functions of reminders: `SQL/`.
enum ReminderSchema {
    static let scripts: [PostgresFunctions.Script] = [
        .init("reminders", EmbeddedFile.reminders_sql),
        .init("claims", EmbeddedFile.claims_sql),
    ]
}
