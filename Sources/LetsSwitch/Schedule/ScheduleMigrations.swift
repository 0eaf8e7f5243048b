package import Postgres

/// The database's schema, embedded in the program.
package enum ScheduleMigrations {
    package static let all: [PostgresMigration] = [
        migration(1, "tables", PackageResources._001_tables_sql),
        migration(2, "zones", PackageResources._002_zones_sql),
        migration(3, "tasks", PackageResources._003_tasks_sql),
        migration(4, "days", PackageResources._004_days_sql),
        migration(5, "reminders", PackageResources._005_reminders_sql),
        migration(6, "devices", PackageResources._006_devices_sql),
        migration(7, "retries", PackageResources._007_retries_sql),
        migration(8, "channels", PackageResources._008_channels_sql),
        migration(9, "calendar", PackageResources._009_calendar_sql),
    ]

    private static func migration(_ version: Int, _ name: String, _ sql: [UInt8]) -> PostgresMigration {
        PostgresMigration(version: version, name: name, sql: String(decoding: sql, as: UTF8.self))
    }
}
