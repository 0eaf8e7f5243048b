import Delivery
import Messaging
package import Postgres
import Scheduling

/// What the daemon keeps in its database, embedded in the program: `SQL/`.
package enum DatabaseSchema {
    /// Nothing that isn't numbered here changes tables.
    private static let migrations = [
        PostgresMigration(version: 1, name: "schema", sql: text(PackageResources._001_schema_sql)),
        PostgresMigration(version: 2, name: "daemons", sql: text(PackageResources._002_daemons_sql)),
        PostgresMigration(version: 3, name: "presence", sql: text(PackageResources._003_presence_sql)),
        PostgresMigration(version: 4, name: "questions", sql: text(PackageResources._004_questions_sql)),
        PostgresMigration(version: 5, name: "erased", sql: text(PackageResources._005_erased_sql)),
        PostgresMigration(version: 6, name: "conversations", sql: text(PackageResources._006_conversations_sql)),
        PostgresMigration(version: 7, name: "partners", sql: text(PackageResources._007_partners_sql)),
        PostgresMigration(version: 8, name: "started", sql: text(PackageResources._008_started_sql)),
        PostgresMigration(version: 9, name: "blocks", sql: text(PackageResources._009_blocks_sql)),
        PostgresMigration(version: 10, name: "bridge", sql: text(PackageResources._010_bridge_sql)),
        PostgresMigration(version: 11, name: "series", sql: text(PackageResources._011_series_sql)),
        PostgresMigration(version: 12, name: "samples", sql: text(PackageResources._012_samples_sql)),
        PostgresMigration(version: 13, name: "notifications", sql: text(PackageResources._013_notifications_sql)),
        PostgresMigration(version: 14, name: "absence", sql: text(PackageResources._014_absence_sql)),
        PostgresMigration(version: 15, name: "gathered", sql: text(PackageResources._015_gathered_sql)),
        PostgresMigration(version: 16, name: "invitations", sql: text(PackageResources._016_invitations_sql)),
        PostgresMigration(version: 17, name: "epochs", sql: text(PackageResources._017_epochs_sql)),
        PostgresMigration(version: 18, name: "notices", sql: text(PackageResources._018_notices_sql)),
        PostgresMigration(version: 19, name: "used-series", sql: text(PackageResources._019_used_series_sql)),
    ]

    private static let functions = PostgresFunctions(
        revision: 25, oldestUsable: 14,
        scripts: SchedulingSchema.scripts + DeliverySchema.scripts + MessagingSchema.scripts + [
            PostgresFunctions.Script(name: "daemons", sql: text(PackageResources.daemons_sql)),
            PostgresFunctions.Script(name: "export", sql: text(PackageResources.export_sql)),
            PostgresFunctions.Script(name: "samples", sql: text(PackageResources.samples_sql)),
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

    private static func text(_ sql: [UInt8]) -> String { String(decoding: sql, as: UTF8.self) }
}
