import CEmbedded
import Domain
import Features

/// The tables and database functions of questions: `SQL/`.
enum QuestionSchema {
    static let schema = FeatureSchema(
        "questions",
        tables: [EmbeddedFile.questions_tables_sql],
        functions: [
            ("questions", EmbeddedFile.questions_sql),
            ("question-reading", EmbeddedFile.question_reading_sql),
            ("question-deletion", EmbeddedFile.question_deletion_sql),
            ("export", EmbeddedFile.questions_export_sql),
        ],
        limited: [
            .sessions: ["questions.question_session"], .questions: ["questions.question"],
            .votes: ["questions.question_vote"],
        ])
}
