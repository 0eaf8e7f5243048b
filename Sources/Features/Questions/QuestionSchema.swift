import CEmbedded
package import Postgres

/// The tables and database functions of questions: `SQL/`.
package enum QuestionSchema {
    /// The tables, for the first migration.
    package static let tables = [String(cString: EmbeddedFile.questions_tables_sql.bytes)]

    package static let scripts = [
        script("questions", EmbeddedFile.questions_sql),
        script("question-reading", EmbeddedFile.question_reading_sql),
        script("question-deletion", EmbeddedFile.question_deletion_sql),
    ]

    private static func script(_ name: String, _ sql: EmbeddedFile) -> PostgresFunctions.Script {
        PostgresFunctions.Script(name: name, sql: String(cString: sql.bytes))
    }
}
