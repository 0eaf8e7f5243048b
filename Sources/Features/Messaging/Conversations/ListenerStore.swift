import Domain
package import FoundationEssentials
package import Postgres

/// Who hears its conversations on a daemon, for all to know: who is there needs no notification. Every operation is one statement. Throws
/// `PostgresError`.
package struct ListenerStore: Sendable {
    /// The names that metrics go by.
    package static let statementNames = [set, forget].map(\.name)

    private static let set = PostgresStatement(
        name: "set_listeners", sql: "SELECT letsswitch.set_listeners($1::uuid, $2, $3)")
    private static let forget = PostgresStatement(
        name: "forget_listeners", sql: "SELECT letsswitch.forget_listeners($1::uuid)")

    private let database: PostgresClient
    private let daemon: UUID

    /// - Parameter daemon: As the daemons know one another.
    package init(database: PostgresClient, daemon: UUID) {
        self.database = database
        self.daemon = daemon
    }

    /// These users have begun to listen here, and those have ended.
    package func set(came: [String], left: [String]) async throws {
        _ = try await database.query(Self.set, [.text(daemon.text), .textArray(came), .textArray(left)])
    }

    /// Nobody listens here, nor on daemons that are gone.
    package func forget() async throws {
        _ = try await database.query(Self.forget, [.text(daemon.text)])
    }
}
