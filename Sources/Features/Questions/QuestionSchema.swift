import CEmbedded
import Features
import Postgres

/// The tables and database functions of questions: `SQL/`.
enum QuestionSchema {
    static let tables = String(cString: EmbeddedFile.questions_tables_sql.bytes)

    static let scripts: [PostgresFunctions.Script] = [
        .init("questions", EmbeddedFile.questions_sql),
        .init("question-reading", EmbeddedFile.question_reading_sql),
        .init("question-deletion", EmbeddedFile.question_deletion_sql),
    ]
}
