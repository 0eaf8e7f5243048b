package import Postgres

/// The revision of the functions in the database. During an upgrade, daemon by daemon, it can be that of a newer build.
/// Throws `PostgresError`.
package struct FunctionsRevision: Sendable {
    private static let select = PostgresStatement(name: "", sql: "SELECT revision FROM letsswitch.functions")

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// Returns the revision if it isn't this build's.
    package func newer() async throws -> Int? {
        let rows = try await database.query(Self.select, [])
        guard let revision = try rows.first?.integer("revision") else { return nil }
        return revision > DatabaseSchema.current.functions.revision ? revision : nil
    }
}

extension PostgresError {
    /// Whether an object is missing or has changed since the statement was written (class 42 of SQLSTATE, and an
    /// invalid plan).
    package var meansOtherDefinitions: Bool {
        switch kind {
        case .server(let sqlState): sqlState.hasPrefix("42") || sqlState == "0A000"
        case .decoding: true
        case .unavailable, .refused, .conflict, .invalidParameter, .shutDown: false
        }
    }
}
