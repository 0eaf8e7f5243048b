package import Domain
package import Postgres

/// How much is stored, and forgetting what nobody uses. Every operation is one statement. Throws `PostgresError`.
package struct StorageStore: Sendable {
    /// The names that metrics go by.
    static let statementNames = [stored, forgetUnused].map(\.name)

    private static let stored = PostgresStatement(name: "stored", sql: "SELECT * FROM letsswitch.stored()")
    private static let forgetUnused = PostgresStatement(
        name: "forget_unused", sql: "SELECT letsswitch.forget_unused($1, $2) AS taken")

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// About how many rows each table has.
    package func counts() async throws -> [StoredTable: Int] {
        var counts: [StoredTable: Int] = [:]
        for row in try await database.query(Self.stored, [], timeout: nil) {
            guard let table = StoredTable(rawValue: try row.string("name")) else { continue }
            counts[table] = try row.integer("rows")
        }
        return counts
    }

    /// Forgets addresses and calendars that nobody has used for `retention` seconds, `limit` of each. Returns how many it looked at:
    /// there may be more until that is 0.
    package func forgetUnused(retention: Double, limit: Int = 1000) async throws -> Int {
        let rows = try await database.query(
            Self.forgetUnused, [.double(retention), .integer(limit)], timeout: nil)
        return try rows[0].integer("taken")
    }
}
