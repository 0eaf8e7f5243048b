import CEmbedded
import Features
import Postgres

/// The tables and database functions of notifications: `SQL/`.
enum NotificationSchema {
    static let tables = String(cString: EmbeddedFile.notifications_tables_sql.bytes)

    static let scripts: [PostgresFunctions.Script] = [
        .init("addresses", EmbeddedFile.addresses_sql),
        .init("providers", EmbeddedFile.providers_sql),
        .init("deliveries", EmbeddedFile.deliveries_sql),
        .init("notices", EmbeddedFile.notices_sql),
        .init("events", EmbeddedFile.events_sql),
        .init("retention", EmbeddedFile.retention_sql),
    ]
}
