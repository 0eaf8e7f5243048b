package import Postgres

/// What the daemon keeps in its database, embedded in the program: `SQL/`.
package enum DatabaseSchema {
    /// Nothing that isn't numbered here changes tables.
    private static let migrations = [
        PostgresMigration(version: 1, name: "schema", sql: text(PackageResources._001_schema_sql))
    ]

    private static let functions = PostgresFunctions(
        revision: 1, oldestUsable: 1,
        scripts: [
            script("basics", PackageResources.basics_sql),
            script("zones", PackageResources.zones_sql),
            script("tasks", PackageResources.tasks_sql),
            script("days", PackageResources.days_sql),
            script("reminders", PackageResources.reminders_sql),
            script("claims", PackageResources.claims_sql),
            script("rooms", PackageResources.rooms_sql),
            script("addresses", PackageResources.addresses_sql),
            script("providers", PackageResources.providers_sql),
            script("deliveries", PackageResources.deliveries_sql),
            script("events", PackageResources.events_sql),
            script("devices", PackageResources.devices_sql),
            script("calendar", PackageResources.calendar_sql),
            script("quotas", PackageResources.quotas_sql),
        ],
        // The tests put one of their own in its place.
        kept: ["clock"])

    package static let current = PostgresSchema(name: "letsswitch", migrations: migrations, functions: functions)

    /// Tables are reached by index alone: a plan that was made while they were small, or for an array that is long, would read a
    /// million rows where a thousand are wanted. And in its order, so that `LIMIT` ends what it begins: a bitmap is made of all that
    /// fits, and sorted.
    package static let sessionSettings = [
        "enable_seqscan": "off", "enable_bitmapscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
        "max_parallel_workers_per_gather": "0", "jit": "off",
    ]

    private static func script(_ name: String, _ sql: [UInt8]) -> PostgresFunctions.Script {
        PostgresFunctions.Script(name: name, sql: text(sql))
    }

    private static func text(_ sql: [UInt8]) -> String { String(decoding: sql, as: UTF8.self) }
}
