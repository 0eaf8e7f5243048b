package import Domain
package import FoundationEssentials
package import Postgres

/// The partners that devices would like to have again. Every operation is one statement, and SQL/preferences.sql
/// decides.
package struct PreferenceStore: Sendable {
    /// The maximum number of preferences of a device.
    static let perDevice = 1_000
    /// The number of preferences on a page.
    package static let pageCount = 100
    /// The names of the statements, for metrics.
    package static let statementNames = [prefer, remove, list].map(\.name)

    private static let prefer = PostgresStatement(
        name: "prefer_partner", sql: "SELECT * FROM schedule.prefer_partner($1, $2, $3, $4)")
    private static let remove = PostgresStatement(
        name: "remove_preference", sql: "SELECT schedule.remove_preference($1, $2) AS was_there")
    private static let list = PostgresStatement(
        name: "list_preferences", sql: "SELECT * FROM schedule.list_preferences($1, $2, $3)")

    private let database: PostgresClient
    private let storage: StorageQuota

    package init(database: PostgresClient, storage: StorageQuota = StorageQuota()) {
        self.database = database
        self.storage = storage
    }

    /// Stores a preference for the partner of this task.
    package func prefer(_ task: OwnTask) async throws -> (preference: Preference, isNew: Bool) {
        let reservation = storage.reserve(in: .preferences)
        let row = try await storage.using(reservation) {
            try await database.query(
                Self.prefer,
                [
                    .text(task.device.text), .text(task.id.text), .integer(Self.perDevice),
                    .boolean(reservation.isGranted),
                ])[0]
        }
        let code = try row.string("code")
        if code != "preferred" { storage.giveBack(reservation) }
        switch code {
        case "preferred":
            storage.added(.preferences)
            return (try Preference(row), true)
        case "repeated": return (try Preference(row), false)
        case "no_such_task":
            throw RequestError(status: 404, code: "no_such_task", reason: "This device has no such task.")
        case "no_partner":
            throw RequestError(status: 409, code: "no_partner", reason: "The task has no partner.")
        case "too_many_preferences":
            throw RequestError(
                status: 429, code: "too_many_preferences",
                reason: "This device already prefers \(Self.perDevice) partners, the maximum.")
        case "preferences_full": throw reservation.refusal ?? .storageFull(.preferences)
        default: throw PostgresError(kind: .decoding, message: "unknown outcome \(code)")
        }
    }

    package func remove(_ id: UUID, of device: DeviceID) async throws {
        let row = try await database.query(Self.remove, [.text(device.text), .text(id.text)])[0]
        guard try row.boolean("was_there") else {
            throw RequestError(
                status: 404, code: "no_such_preference", reason: "This device has no preference with this id.")
        }
    }

    /// Returns a page of preferences, the latest first.
    ///
    /// - Parameter last: The last preference of the previous page. `nil` for the first page.
    /// - Returns: A page, and whether there may be more.
    package func preferences(
        of device: DeviceID, before last: UUID? = nil
    ) async throws -> (preferences: [Preference], hasMore: Bool) {
        let rows = try await database.query(
            Self.list,
            [.text(device.text), last.map { .text($0.text) } ?? .null, .integer(Self.pageCount + 1)])
        let preferences = try rows.map(Preference.init)
        return (Array(preferences.prefix(Self.pageCount)), preferences.count > Self.pageCount)
    }
}

extension Preference {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            id: try row.uuid("id"), title: try row.string("title"), startsAt: try row.instant("starts_at"),
            preferredAt: try row.instant("preferred_at"))
    }
}
