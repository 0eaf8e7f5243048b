package import Domain
package import Postgres

/// Erases devices and deletes past tasks in the database. Every operation is one statement. Throws `PostgresError`.
package struct ErasureStore: Sendable {
    /// The NOTIFY channel of erased devices. Every daemon ends their connections.
    package static let channel = "letsswitch_erased"
    /// The names of the statements, for metrics.
    package static let statementNames = Statement.all.map(\.name)

    /// The statements. Each runs in a transaction of its own.
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

    /// - Parameter historyRetention: How long messages of conversations are kept.
    package init(database: PostgresClient, historyRetention: Duration = .seconds(365 * 86_400)) {
        self.database = database
        self.historyRetention = historyRetention
    }

    /// Erases a device: token, tasks without a partner, and history. All of it is invisible when this returns. Large
    /// amounts are deleted by ``eraseMore(limit:)``.
    package func erase(_ device: DeviceID) async throws -> ErasureStep {
        try ErasureStep(try await database.query(Statement.eraseDevice, [.text(device.text)], timeout: nil))
    }

    /// Deletes `limit` tasks of an erased device.
    package func eraseMore(limit: Int) async throws -> ErasureStep {
        try ErasureStep(try await database.query(Statement.eraseMore, [.integer(limit)], timeout: nil))
    }

    /// Deletes tasks that started more than `retention` seconds ago, and rows of erased devices. At most `limit` tasks
    /// of each kind. Returns the number of deleted rows. There may be more until it is 0.
    package func purge(retention: Double, limit: Int = 1000) async throws -> Int {
        let rows = try await database.query(
            Statement.purge, [.double(retention), .integer(limit), .double(historyRetention / .seconds(1))],
            timeout: nil)
        return try rows[0].integer("taken")
    }
}

/// The result of one statement of an erasure.
package struct ErasureStep: Hashable, Sendable {
    /// The slots that can't be joined any more, and those of partners, who no longer see a title.
    package let slots: [Instant]
    /// Whether there may be invisible rows that must still be deleted.
    package let hasMore: Bool

    /// Creates it from rows of `letsswitch.erase_device` or `letsswitch.erase_more`.
    init(_ rows: PostgresRows) throws {
        slots = try rows.filter { try !$0.isNull("starts_at") }.map { try $0.instant("starts_at") }
        hasMore = slots.count < rows.count
    }
}
