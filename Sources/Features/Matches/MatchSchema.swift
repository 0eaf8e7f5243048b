import CEmbedded
import Features

/// The tables and database functions of matches' rooms: `SQL/`.
enum MatchSchema {
    static let schema = FeatureSchema(
        "matches",
        functions: [
            ("attendance", EmbeddedFile.attendance_sql),
            ("retention", EmbeddedFile.matches_retention_sql),
            ("export", EmbeddedFile.matches_export_sql),
        ])
}
