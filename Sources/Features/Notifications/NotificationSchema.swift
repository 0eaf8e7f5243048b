import CEmbedded
import Features

/// The tables and database functions of notifications: `SQL/`.
enum NotificationSchema {
    static let schema = FeatureSchema(
        "notifications",
        functions: [
            ("addresses", EmbeddedFile.addresses_sql),
            ("providers", EmbeddedFile.providers_sql),
            ("deliveries", EmbeddedFile.deliveries_sql),
            ("retention", EmbeddedFile.notifications_retention_sql),
        ])
}
