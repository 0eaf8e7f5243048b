package import Postgres

/// Which functions stand in the database: while daemons are upgraded one after the other, a newer build's. Throws `PostgresError`.
package struct FunctionsRevision: Sendable {
    private static let select = PostgresStatement(name: "", sql: "SELECT revision FROM letsswitch.functions")

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// Their revision, if they aren't this build's any more.
    package func newer() async throws -> Int? {
        let rows = try await database.query(Self.select, [])
        guard let revision = try rows.first?.integer("revision") else { return nil }
        return revision > DatabaseSchema.current.functions.revision ? revision : nil
    }
}

extension PostgresError {
    /// Whether something isn't there, or isn't what it was when the statement was written (class 42 of SQLSTATE, and a plan that
    /// can't go on).
    package var meansOtherDefinitions: Bool {
        switch kind {
        case .server(let sqlState): sqlState.hasPrefix("42") || sqlState == "0A000"
        case .decoding: true
        case .unavailable, .refused, .conflict, .invalidParameter, .shutDown: false
        }
    }
}
