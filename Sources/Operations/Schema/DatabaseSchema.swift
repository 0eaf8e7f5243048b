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

/// The daemon's tables and functions, embedded in the program from `SQL/`.
package enum DatabaseSchema {
    /// The numbered migrations. Only they change tables. New ones are in the folders of their features.
    private static let migrations = (earlierMigrations + features.flatMap { $0.migrations })
        .sorted { $0.version < $1.version }

    private static let earlierMigrations = [
        PostgresMigration(version: 1, name: "schema", sql: text(EmbeddedFile.migration_0001_schema_sql)),
        PostgresMigration(version: 2, name: "daemons", sql: text(EmbeddedFile.migration_0002_daemons_sql)),
        PostgresMigration(version: 3, name: "presence", sql: text(EmbeddedFile.migration_0003_presence_sql)),
        PostgresMigration(version: 4, name: "questions", sql: text(EmbeddedFile.migration_0004_questions_sql)),
        PostgresMigration(version: 5, name: "erased", sql: text(EmbeddedFile.migration_0005_erased_sql)),
        PostgresMigration(version: 6, name: "conversations", sql: text(EmbeddedFile.migration_0006_conversations_sql)),
        PostgresMigration(version: 7, name: "partners", sql: text(EmbeddedFile.migration_0007_partners_sql)),
        PostgresMigration(version: 8, name: "started", sql: text(EmbeddedFile.migration_0008_started_sql)),
        PostgresMigration(version: 9, name: "blocks", sql: text(EmbeddedFile.migration_0009_blocks_sql)),
        PostgresMigration(version: 10, name: "bridge", sql: text(EmbeddedFile.migration_0010_bridge_sql)),
        PostgresMigration(version: 11, name: "series", sql: text(EmbeddedFile.migration_0011_series_sql)),
        PostgresMigration(version: 12, name: "samples", sql: text(EmbeddedFile.migration_0012_samples_sql)),
        PostgresMigration(version: 13, name: "notifications", sql: text(EmbeddedFile.migration_0013_notifications_sql)),
        PostgresMigration(version: 14, name: "absence", sql: text(EmbeddedFile.migration_0014_absence_sql)),
        PostgresMigration(version: 15, name: "gathered", sql: text(EmbeddedFile.migration_0015_gathered_sql)),
        PostgresMigration(version: 16, name: "invitations", sql: text(EmbeddedFile.migration_0016_invitations_sql)),
        PostgresMigration(version: 17, name: "epochs", sql: text(EmbeddedFile.migration_0017_epochs_sql)),
        PostgresMigration(version: 18, name: "notices", sql: text(EmbeddedFile.migration_0018_notices_sql)),
        PostgresMigration(version: 19, name: "used-series", sql: text(EmbeddedFile.migration_0019_used_series_sql)),
        PostgresMigration(version: 20, name: "left", sql: text(EmbeddedFile.migration_0020_left_sql)),
        PostgresMigration(version: 21, name: "used-blocks", sql: text(EmbeddedFile.migration_0021_used_blocks_sql)),
        PostgresMigration(version: 22, name: "unused-names", sql: text(EmbeddedFile.migration_0022_unused_names_sql)),
        PostgresMigration(version: 23, name: "lapsed", sql: text(EmbeddedFile.migration_0023_lapsed_sql)),
        PostgresMigration(version: 24, name: "bus-standing", sql: text(EmbeddedFile.migration_0024_bus_standing_sql)),
        PostgresMigration(version: 25, name: "answered", sql: text(EmbeddedFile.migration_0025_answered_sql)),
        PostgresMigration(
            version: 26, name: "question-count", sql: text(EmbeddedFile.migration_0026_question_count_sql)),
    ]

    /// All features, also those that a daemon leaves out. A feature comes after those whose types its functions use.
    package static let features: [any Feature.Type] = [
        ScheduleFeature.self, RemindersFeature.self, MatchesFeature.self, NotificationsFeature.self,
        QuestionsFeature.self, ConversationsFeature.self,
    ]

    private static let functions = PostgresFunctions(
        revision: 43, oldestUsable: 14,
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
