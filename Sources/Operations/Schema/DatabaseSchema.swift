import CEmbedded
import Conversations
package import Features
import Matches
import Notifications
package import Postgres
import Questions
import Reminders
import Schedule

/// The daemon's tables and functions, embedded in the program from the folders `SQL`.
package enum DatabaseSchema {
    /// All features, also those that a daemon leaves out. A feature comes after those whose SQL it uses.
    package static let features: [any Feature.Type] = [
        ScheduleFeature.self, RemindersFeature.self, MatchesFeature.self, QuestionsFeature.self,
        ConversationsFeature.self, NotificationsFeature.self,
    ]

    /// All parts. Each uses only those before it.
    package static let parts: [FeatureSchema] = [.core] + features.compactMap { $0.schema } + [operations]

    private static let operations = FeatureSchema(
        "operations", tables: [EmbeddedFile.operations_tables_sql],
        functions: [("daemons", EmbeddedFile.daemons_sql), ("samples", EmbeddedFile.samples_sql)])

    /// The numbered migrations. Only they change tables. A released migration never changes.
    private static let migrations = [
        PostgresMigration(
            version: 1, name: "schemas",
            sql: parts.map { "CREATE SCHEMA \($0.name);\n\($0.tables)" }.joined(separator: "\n"))
    ]

    private static let functions = PostgresFunctions(
        revision: 1, oldestUsable: 1, scripts: parts.flatMap { $0.functions } + [erasure],
        // The tests put one of their own in its place.
        kept: ["clock"])

    package static let current = PostgresSchema(
        name: "letsswitch", schemas: parts.map { $0.name }, migrations: migrations, functions: functions)

    /// The functions with which `core.erase_device` reaches all features.
    private static let erasure = PostgresFunctions.Script(
        name: "hooks",
        sql: """
            CREATE FUNCTION core.begin_erasing(p_device text) RETURNS boolean
            LANGUAGE plpgsql AS $$
            DECLARE
                v_is_known boolean := false;
            BEGIN
            \(calls(.beginErasing) { "    v_is_known := \($0)(p_device) OR v_is_known;" })
                RETURN v_is_known;
            END
            $$;

            CREATE FUNCTION core.erase_rows(p_device text, p_limit integer) RETURNS boolean
            LANGUAGE plpgsql AS $$
            DECLARE
                v_is_done boolean := true;
            BEGIN
            \(calls(.eraseRows) { "    v_is_done := \($0)(p_device, p_limit) AND v_is_done;" })
                RETURN v_is_done;
            END
            $$;
            """)

    /// Returns SQL that calls a hook, an SQL function that features may declare. `line` returns the SQL for the
    /// function of one feature.
    private static func calls(_ hook: FeatureSchema.Hook, _ line: (String) -> String) -> String {
        parts.compactMap { $0.function(hook) }.map(line).joined(separator: "\n")
    }

    /// Makes PostgreSQL use indexes only. A plan that was made while the tables were small, or for a long array, could
    /// otherwise read a million rows to find a thousand. Bitmap scans are off too, because they collect and sort all
    /// matching rows before `LIMIT` applies.
    package static let sessionSettings = [
        "enable_seqscan": "off", "enable_bitmapscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
        "max_parallel_workers_per_gather": "0", "jit": "off", "plan_cache_mode": "auto",
    ]
}
