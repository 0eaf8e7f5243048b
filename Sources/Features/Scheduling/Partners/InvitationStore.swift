import Domain
package import FoundationEssentials
package import Postgres

/// Promises that wait for somebody who was invited. Every operation is one statement; SQL/invitations.sql decides. To invite and to accept
/// is to register: ``ScheduleStore``. Throws as that does.
package struct InvitationStore: Sendable {
    /// The names that metrics go by.
    package static let statementNames = [read, lapsed, free].map(\.name)

    private static let read = PostgresStatement(
        name: "read_invitation", sql: "SELECT * FROM letsswitch.read_invitation($1)")
    private static let lapsed = PostgresStatement(
        name: "lapsed_invitations", sql: "SELECT id FROM letsswitch.lapsed_invitations($1, $2::uuid[])")
    private static let free = PostgresStatement(
        name: "free_invitation", sql: "SELECT letsswitch.free_invitation($1) AS is_paired")

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// Throws why it can't be accepted, if it can't.
    package func read(_ token: InvitationToken) async throws -> Invitation {
        let row = try await database.query(Self.read, [.text(token.text)])[0]
        switch try row.optionalString("problem") {
        case nil: break
        case "registration_closed":
            throw RequestError(
                status: 409, code: "registration_closed", reason: "It is too late: registration has closed.")
        case let code?: throw RequestError.invitation(code)
        }
        guard let closesAt = Instant(epoch: try row.double("reminds_at")) else {
            throw PostgresError(kind: .decoding, message: "column reminds_at is not a valid instant")
        }
        return Invitation(
            title: try row.string("title"), startTime: try row.string("start_time"),
            timeZone: try row.string("time_zone"), startsAt: try row.instant("starts_at"), closesAt: closesAt)
    }

    /// The tasks whose guests haven't come in time, `limit` at most: those first who have their lead before them.
    ///
    /// - Parameter failed: Others than these.
    package func lapsed(limit: Int = 100, but failed: some Collection<UUID> = []) async throws -> [UUID] {
        try await database.query(Self.lapsed, [.integer(limit), .uuidArray(failed.map { $0 })], timeout: nil)
            .map { try $0.uuid("id") }
    }

    /// Such a task waits for anybody from now on.
    ///
    /// - Returns: Whether somebody else waited there: then these two are a pair.
    package func free(_ task: UUID) async throws -> Bool {
        try await database.query(Self.free, [.text(task.text)], timeout: nil)[0].boolean("is_paired")
    }
}
