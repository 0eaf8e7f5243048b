import Domain
package import FoundationEssentials
package import Postgres

/// Tasks that wait for an invited guest. Every operation is one statement, and SQL/invitations.sql decides. Inviting
/// and accepting register a task: see ``ScheduleStore``. Throws like that store.
package struct InvitationStore: Sendable {
    /// The names of the statements, for metrics.
    package static let statementNames = [read, lapsed, free].map(\.name)

    private static let read = PostgresStatement(
        name: "read_invitation",
        sql: "SELECT *, \(PostgresStatement.microseconds("reminds_at")) FROM schedule.read_invitation($1)")
    private static let lapsed = PostgresStatement(
        name: "lapsed_invitations", sql: "SELECT id FROM schedule.lapsed_invitations($1, $2::uuid[])")
    private static let free = PostgresStatement(
        name: "end_invitation", sql: "SELECT schedule.end_invitation($1) AS is_paired")

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// Returns the invitation. Throws a refusal with the reason if it can't be accepted.
    package func read(_ token: InvitationToken) async throws -> Invitation {
        let row = try await database.query(Self.read, [.text(token.text)])[0]
        switch try row.optionalString("problem") {
        case nil: break
        case "registration_closed":
            throw RequestError(
                status: 409, code: "registration_closed", reason: "It is too late: registration has closed.")
        case let code?: throw RequestError.invitation(code)
        }
        return Invitation(
            title: try row.string("title"), startTime: try row.string("start_time"),
            timeZone: try row.string("time_zone"), startsAt: try row.instant("starts_at"),
            closesAt: try row.instant(microseconds: "reminds_at_us"))
    }

    /// Returns at most `limit` tasks whose guests haven't come in time. Tasks whose lead is still ahead come first.
    ///
    /// - Parameter failed: Tasks to leave out.
    package func lapsed(limit: Int = 100, but failed: some Collection<UUID> = []) async throws -> [UUID] {
        try await database.query(Self.lapsed, [.integer(limit), .uuidArray(failed.map { $0 })], timeout: nil)
            .map { try $0.uuid("id") }
    }

    /// Makes a task whose guest didn't come wait for any partner.
    ///
    /// - Returns: Whether another task was waiting, which is now the partner.
    package func free(_ task: UUID) async throws -> Bool {
        try await database.query(Self.free, [.text(task.text)], timeout: nil)[0].boolean("is_paired")
    }
}
