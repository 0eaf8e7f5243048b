import CEmbedded
import Conversations
import Domain
package import Features
import Matches
import Notifications
package import Postgres
import Questions
import Reminders
import Schedule

/// The daemon's tables and functions, embedded in the program from the folders `SQL` of the features and this target.
package enum DatabaseSchema {
    /// The numbered migrations. Only they change tables. A released migration never changes.
    private static let migrations = [PostgresMigration(version: 1, name: "tables", sql: tables)]

    /// The tables of all features. The first part has what the others use: the clock and the table of secrets.
    private static let tables =
        ([text(EmbeddedFile.schema_tables_sql)] + features.map { $0.tables }).joined(separator: "\n")

    /// All features, also those that a daemon leaves out. A feature comes after those whose types its functions use.
    package static let features: [any Feature.Type] = [
        ScheduleFeature.self, RemindersFeature.self, MatchesFeature.self, NotificationsFeature.self,
        QuestionsFeature.self, ConversationsFeature.self,
    ]

    private static let functions = PostgresFunctions(
        revision: 1, oldestUsable: 1,
        scripts: features.flatMap { $0.functions } + [
            PostgresFunctions.Script("daemons", EmbeddedFile.daemons_sql),
            PostgresFunctions.Script("export", EmbeddedFile.export_sql),
            PostgresFunctions.Script("samples", EmbeddedFile.samples_sql),
        ],
        // The tests put one of their own in its place.
        kept: ["clock"])

    package static let current = PostgresSchema(name: "letsswitch", migrations: migrations, functions: functions)

    /// Makes PostgreSQL use indexes only. A plan that was made while the tables were small, or for a long array, could
    /// otherwise read a million rows to find a thousand. Bitmap scans are off too, because they collect and sort all
    /// matching rows before `LIMIT` applies.
    package static let sessionSettings = [
        "enable_seqscan": "off", "enable_bitmapscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
        "max_parallel_workers_per_gather": "0", "jit": "off", "plan_cache_mode": "auto",
    ]

    private static func text(_ sql: EmbeddedFile) -> String { String(cString: sql.bytes) }
}
