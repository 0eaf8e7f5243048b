package import Postgres

/// Deletes old rows of the features that are on, and of the outbox. Every operation is one statement. Throws
/// `PostgresError`.
package struct RetentionStore: Sendable {
    package static let statementName = "delete_old"

    private let database: PostgresClient
    private let statement: PostgresStatement
    private let retentions: [Double]

    /// - Parameters:
    ///   - parts: What the features share, and the features that are on. Rows of features that are left out stay.
    ///   - tasks: How long tasks are kept after their start, and other rows after their last use.
    ///   - messages: How long messages of conversations are kept.
    package init(database: PostgresClient, parts: [FeatureSchema], tasks: Duration, messages: Duration) {
        self.database = database
        let deleting = parts.compactMap { part in part.function(.deleteOld).map { ($0, part.retention) } }
        retentions = deleting.map { _, retention in (retention == .messages ? messages : tasks) / .seconds(1) }
        // $1 is the limit. Each part has a parameter of its own for its retention.
        let calls = deleting.enumerated().map { "\($1.0)($\($0 + 2), $1)" }
        statement = PostgresStatement(
            name: Self.statementName,
            sql: "SELECT \(calls.joined(separator: " + ")) AS count")
    }

    /// Deletes old rows, at most `limit` of each kind. Returns a number above 0 if there may be more.
    package func deleteOld(limit: Int = 1000) async throws -> Int {
        try await database.query(statement, [.integer(limit)] + retentions.map { .double($0) }, timeout: nil)[0]
            .integer("count")
    }
}
