package import Domain
import FoundationEssentials
package import Postgres

/// Pairs people anew whose partners didn't come, in the database. Every operation is one statement; SQL/absence.sql decides.
/// Throws `PostgresError`.
///
///     NOTIFY letsswitch_rematched  payload: a ``Rematch``
package struct RematchStore: Sendable {
    package static let channel = "letsswitch_rematched"

    /// The names that metrics go by.
    package static let statementNames = [next.name, slots.name, rematch.name, recent.name]

    private static let next = PostgresStatement(
        name: "next_absence", sql: "SELECT letsswitch.next_absence($1, $2) AS seconds")
    private static let slots = PostgresStatement(
        name: "forsaken_slots", sql: "SELECT starts_at FROM letsswitch.forsaken_slots($1, $2, $3)")
    private static let rematch = PostgresStatement(
        name: "rematch_slot", sql: "SELECT letsswitch.rematch_slot($1, $2, $3, $4) AS pairs")

    private static let recent = PostgresStatement(
        name: "recent_rematches", sql: "SELECT notification FROM letsswitch.recent_rematches($1)")

    private let database: PostgresClient
    private let settings: ScheduleSettings
    /// Who has lost the connection so long ago hasn't gone.
    private let grace: Duration

    package init(database: PostgresClient, settings: ScheduleSettings, grace: Duration) {
        self.database = database
        self.settings = settings
        self.grace = grace
    }

    /// In how long somebody may be found to be alone after the start, or a guest not to have come; nil when nothing is known to come.
    func next() async throws -> Duration? {
        let times = Self.seconds(settings.noShowAfter, settings.lateJoinWindow)
        return try await database.query(Self.next, times, timeout: nil)[0].optionalDouble("seconds")
            .map { .seconds(max(0, $0)) }
    }

    /// Where somebody waits who can be paired, or is to be joined late.
    package func slots() async throws -> [Instant] {
        try await database.query(Self.slots, times, timeout: nil).map { try $0.instant("starts_at") }
    }

    /// - Returns: How many pairs were made.
    package func rematch(_ slot: Instant) async throws -> Int {
        try await database.query(Self.rematch, [.integer(slot.seconds)] + times, timeout: nil)[0].integer("pairs")
    }

    /// What was told in the last `age`, the oldest first: again for who may not have heard it.
    package func recent(within age: Duration) async throws -> [Rematch] {
        try await database.query(Self.recent, Self.seconds(age), timeout: nil).compactMap {
            Rematch(notification: try $0.string("notification"))
        }
    }

    private var times: [PostgresParameter] {
        Self.seconds(settings.noShowAfter, grace, settings.lateJoinWindow)
    }

    private static func seconds(_ durations: Duration...) -> [PostgresParameter] {
        durations.map { .double($0 / .seconds(1)) }
    }
}
