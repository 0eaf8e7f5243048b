import Postgres
import TestSupport

/// The journey's part in the report of a wait that ends in vain.
extension Journey {
    /// The time for each query of a report: the database may be what a test has broken.
    private static let patience = Duration.seconds(5)
    /// Rows of one table in a report.
    private static let rows = 5

    /// The test's clock beside the machine's.
    func clockReport() async -> String? {
        let utc = "AT TIME ZONE 'UTC'"
        let text = await value(
            "(core.clock() \(utc))::text || ', the machine''s clock: ' || (clock_timestamp() \(utc))::text")
        return "The test's clock: \(text) (UTC)"
    }

    /// The first rows of the tables that a condition reads.
    func rows(named condition: String) async -> String {
        let names = Set(condition.matches(of: /(?:FROM|JOIN)\s+(letsswitch\.\w+)/.ignoresCase()).map { String($0.1) })
        var tables: [String] = []
        for name in names.sorted() {
            let text = await value("(SELECT json_agg(found) FROM (SELECT * FROM \(name) LIMIT \(Self.rows)) AS found)")
            tables.append("\(name): \(text)")
        }
        return tables.joined(separator: ", ")
    }

    private func value(_ expression: String) async -> String {
        do {
            let statement = PostgresStatement(
                name: "", sql: "SELECT coalesce((\(expression))::text, 'nothing') AS text")
            return try await client.query(statement, [], timeout: Self.patience)[0].string("text")
        } catch {
            return "unknown, as the query failed: \(error)"
        }
    }
}
