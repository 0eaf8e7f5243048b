import CEmbedded
package import Postgres

/// The tables and database functions of notifications: `SQL/`.
package enum NotificationSchema {
    /// The tables, for the first migration.
    package static let tables = [String(cString: EmbeddedFile.notifications_tables_sql.bytes)]

    package static let scripts = [
        script("addresses", EmbeddedFile.addresses_sql), script("providers", EmbeddedFile.providers_sql),
        script("deliveries", EmbeddedFile.deliveries_sql), script("notices", EmbeddedFile.notices_sql),
        script("events", EmbeddedFile.events_sql), script("attendance", EmbeddedFile.attendance_sql),
        script("retention", EmbeddedFile.retention_sql),
    ]

    private static func script(_ name: String, _ sql: EmbeddedFile) -> PostgresFunctions.Script {
        PostgresFunctions.Script(name: name, sql: String(cString: sql.bytes))
    }
}
