import Domain
package import FoundationEssentials
package import Postgres

/// The users with subscribers on a daemon. Such users need no notifications through providers. Every operation is one
/// statement. Throws `PostgresError`.
package struct ConnectedUserStore: Sendable {
    /// The names of the statements, for metrics.
    package static let statementNames = [set, remove].map(\.name)

    private static let set = PostgresStatement(
        name: "set_connected_users", sql: "SELECT conversations.set_connected_users($1::uuid, $2, $3)")
    private static let remove = PostgresStatement(
        name: "remove_connected_users", sql: "SELECT conversations.remove_connected_users($1::uuid)")

    private let database: PostgresClient
    private let daemon: UUID

    /// - Parameter daemon: This daemon's id.
    package init(database: PostgresClient, daemon: UUID) {
        self.database = database
        self.daemon = daemon
    }

    /// Writes the users whose first subscriber has entered, and those whose last one has left.
    package func set(came: [String], left: [String]) async throws {
        _ = try await database.query(Self.set, [.text(daemon.text), .textArray(came), .textArray(left)])
    }

    /// Deletes the rows of this daemon and of dead daemons.
    package func remove() async throws {
        _ = try await database.query(Self.remove, [.text(daemon.text)])
    }
}
