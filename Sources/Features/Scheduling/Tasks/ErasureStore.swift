package import Domain
package import Postgres

/// Forgetting people, and what is past, in the database. Every operation is one statement. Throws `PostgresError`.
package struct ErasureStore: Sendable {
    /// NOTIFY of each device that is erased: every daemon ends what acts for it.
    package static let channel = "letsswitch_erased"
    /// The names that metrics go by.
    package static let statementNames = Statement.all.map(\.name)

    /// A statement each, a transaction each.
    private enum Statement {
        static let all = [
            eraseDevice, eraseMore, purge,
        ]

        static let eraseDevice = PostgresStatement(
            name: "erase_device", sql: "SELECT starts_at FROM letsswitch.erase_device($1)")
        static let eraseMore = PostgresStatement(
            name: "erase_more", sql: "SELECT starts_at FROM letsswitch.erase_more($1)")
        static let purge = PostgresStatement(
            name: "purge",
            sql: """
                SELECT letsswitch.purge($1, $2) + letsswitch.purge_deliveries($2) + letsswitch.purge_events($1, $2)
                    + letsswitch.purge_questions($1, $2) + letsswitch.purge_messages($3, $2) + letsswitch.purge_bridge_messages($2) AS taken
                """)
    }

    private let database: PostgresClient
    private let historyRetention: Duration

    /// - Parameter historyRetention: How long conversations' messages are kept.
    package init(database: PostgresClient, historyRetention: Duration = .seconds(365 * 86_400)) {
        self.database = database
        self.historyRetention = historyRetention
    }

    /// Erases a person: token, tasks without a partner, history. All of it is gone for everybody when this returns, and what is much
    /// is deleted by ``eraseMore(limit:)``.
    package func erase(_ device: DeviceID) async throws -> ErasureStep {
        try ErasureStep(try await database.query(Statement.eraseDevice, [.text(device.text)], timeout: nil))
    }

    /// Deletes `limit` tasks of somebody who was erased.
    package func eraseMore(limit: Int) async throws -> ErasureStep {
        try ErasureStep(try await database.query(Statement.eraseMore, [.integer(limit)], timeout: nil))
    }

    /// Forgets what started longer than `retention` seconds ago, and what is left of erased people; `limit` tasks of
    /// either kind. Returns how many it took: there may be more until that is 0.
    package func purge(retention: Double, limit: Int = 1000) async throws -> Int {
        let rows = try await database.query(
            Statement.purge, [.double(retention), .integer(limit), .double(historyRetention / .seconds(1))],
            timeout: nil)
        return try rows[0].integer("taken")
    }
}

/// What one statement did for a person who is to be erased.
package struct ErasureStep: Hashable, Sendable {
    /// Those that nobody can join any more, and those of partners, who no longer see a title.
    package let slots: [Instant]
    /// Whether rows may be left: gone for everybody, and still to be deleted.
    package let hasMore: Bool

    /// From the rows of `letsswitch.erase_device` or `letsswitch.erase_more`.
    init(_ rows: PostgresRows) throws {
        slots = try rows.filter { try !$0.isNull("starts_at") }.map { try $0.instant("starts_at") }
        hasMore = slots.count < rows.count
    }
}
