package import Domain
import FoundationEssentials
package import Postgres

/// The calendar feeds in the database. Every operation is one statement. Throws `PostgresError`.
package struct CalendarStore: Sendable {
    /// The names of the statements, for metrics.
    package static let statementNames = [keep, revoke, read].map(\.name)

    private static let keep = PostgresStatement(
        name: "ensure_calendar", sql: "SELECT schedule.ensure_calendar($1, $2, $3) AS secret")
    private static let revoke = PostgresStatement(
        name: "revoke_calendar", sql: "SELECT schedule.revoke_calendar($1)")
    private static let read = PostgresStatement(
        name: "read_calendar",
        sql: """
            SELECT *, \(PostgresStatement.microseconds("reminds_at", "closes_at")) FROM schedule.read_calendar($1)
            """)

    private let database: PostgresClient
    private let storage: StorageQuota

    package init(database: PostgresClient, storage: StorageQuota) {
        self.database = database
        self.storage = storage
    }

    /// Returns the secret of the device's feed. Stores `candidate` if there is none.
    package func secret(of device: DeviceID, candidate: CalendarSecret) async throws -> CalendarSecret {
        let reservation = storage.reserve(in: .calendars)
        let rows = try await storage.using(reservation) {
            try await database.query(
                Self.keep, [.text(device.text), .text(candidate.text), .boolean(!reservation.isGranted)])
        }
        guard let secret = try rows[0].optionalString("secret") else {
            throw reservation.refusal ?? .storageFull(.calendars)
        }
        if secret == candidate.text { storage.added(.calendars) } else { storage.giveBack(reservation) }
        return CalendarSecret(stored: secret)
    }

    /// Deletes the feed. The next one has another secret.
    package func revoke(_ device: DeviceID) async throws {
        _ = try await database.query(Self.revoke, [.text(device.text)], timeout: nil)
    }

    /// Returns the feed with this secret, or `nil` if there is none.
    package func read(_ secret: CalendarSecret) async throws -> CalendarFeed? {
        let rows = try await database.query(Self.read, [.text(secret.text)], timeout: nil)
        guard let first = rows.first else { return nil }
        return CalendarFeed(
            revision: try first.integer("revision"), revisedAt: try first.instant("revised_at"),
            entries: try rows.compactMap { try CalendarFeed.Entry($0) })
    }
}

extension CalendarFeed.Entry {
    /// Creates an entry from a row. Returns `nil` for the row of a feed without tasks.
    fileprivate init?(_ row: PostgresRow) throws {
        guard let id = try row.optionalUUID("task_id") else { return nil }
        taskId = id
        title = try row.string("title")
        partnerTitle = try row.optionalString("partner_title")
        isPaired = try row.boolean("is_paired")
        startsAt = try row.instant("starts_at")
        remindsAt = try row.instant(microseconds: "reminds_at_us")
        closesAt = try row.instant(microseconds: "closes_at_us")
    }
}
