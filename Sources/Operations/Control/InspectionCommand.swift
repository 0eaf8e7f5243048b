import Postgres
package import Settings
import Wire

/// Runs `letsswitchd daemons`, `rooms`, `due` and similar commands. Reads the database directly, so no daemon needs to
/// run.
package struct InspectionCommand: Sendable {
    package enum Layout: Sendable {
        /// A table for people.
        case table
        /// Output for programs: one JSON object per line.
        case lines
    }

    private static let patience = Duration.seconds(10)

    private let inspection: Inspection
    private let configuration: Configuration

    package init(_ inspection: Inspection, _ configuration: Configuration) {
        self.inspection = inspection
        self.configuration = configuration
    }

    /// - Returns: Text for standard output.
    /// - Throws: An error whose description goes to standard error.
    package func run(_ layout: Layout) async throws -> String {
        let query = InspectionQuery(inspection)
        let rows = try await rows(query)
        switch layout {
        case .table: return Self.table(query.columns, rows)
        case .lines: return rows.map { Self.line(query.columns, $0) }.joined()
        }
    }

    private func rows(_ query: InspectionQuery) async throws -> [[String?]] {
        var postgres = configuration.postgres(conninfo: try conninfo())
        postgres.connectTimeout = Self.patience
        let session = try await PostgresSession.connect(postgres)
        do {
            let rows = try await session.execute(
                query.sql, [.integer(InspectionQuery.limit)], timeout: Self.patience)
            await session.close()
            return try (rows.map(Array.init) ?? []).map { row in
                try query.columns.map { try row.optionalString($0.name) }
            }
        } catch {
            await session.close()
            throw error
        }
    }

    private func conninfo() throws -> String {
        switch configuration.database {
        case .url(let url): return url
        case .libpqEnvironment: return ""
        case .privateCluster:
            return try PrivateCluster.running(stateDirectory: configuration.stateDirectory, names: .product)
        }
    }

    // MARK: Layout

    /// Formats rows as a table with column names. A missing value is shown as a dash.
    static func table(_ columns: [InspectionQuery.Column], _ rows: [[String?]]) -> String {
        let cells = [columns.map(\.name)] + rows.map { $0.map { $0 ?? "-" } }
        let widths = columns.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            let padded = zip(columns, zip(row, widths)).map { column, cell in
                let blanks = String(repeating: " ", count: cell.1 - cell.0.count)
                return column.isNumber ? blanks + cell.0 : cell.0 + blanks
            }
            let line = padded.joined(separator: "  ")
            return line.prefix(line.count - line.reversed().prefix { $0 == " " }.count) + "\n"
        }.joined()
    }

    static func line(_ columns: [InspectionQuery.Column], _ row: [String?]) -> String {
        var json = JSONText()
        json.object { object in
            for (column, cell) in zip(columns, row) {
                if column.isNumber, let number = cell.flatMap({ Int($0) }) {
                    object.member(column.name, number)
                } else {
                    object.member(column.name, cell)
                }
            }
        }
        return String(decoding: json.bytes, as: UTF8.self) + "\n"
    }
}
