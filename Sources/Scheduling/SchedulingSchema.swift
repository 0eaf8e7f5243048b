package import Postgres

/// The functions of the database that scheduling needs: `SQL/`.
package enum SchedulingSchema {
    package static let scripts = [
        script("basics", PackageResources.basics_sql), script("zones", PackageResources.zones_sql),
        script("tasks", PackageResources.tasks_sql), script("partners", PackageResources.partners_sql),
        script("moves", PackageResources.moves_sql), script("series", PackageResources.series_sql),
        script("absence", PackageResources.absence_sql), script("invitations", PackageResources.invitations_sql),
        script("preferences", PackageResources.preferences_sql),
        script("history", PackageResources.history_sql),
        script("days", PackageResources.days_sql),
        script("reminders", PackageResources.reminders_sql), script("claims", PackageResources.claims_sql),
        script("rooms", PackageResources.rooms_sql), script("devices", PackageResources.devices_sql),
        script("calendar", PackageResources.calendar_sql), script("quotas", PackageResources.quotas_sql),
    ]

    private static func script(_ name: String, _ sql: [UInt8]) -> PostgresFunctions.Script {
        PostgresFunctions.Script(name: name, sql: String(decoding: sql, as: UTF8.self))
    }
}
