package import Domain
import FoundationEssentials
package import Postgres

/// Finds new partners for users whose partners didn't come. Every operation is one statement, and SQL/absence.sql
/// decides. Throws `PostgresError`.
///
///     NOTIFY letsswitch_rematched  payload: a ``Rematch``
package struct RematchStore: Sendable {
    package static let channel = "letsswitch_rematched"

    /// The names of the statements, for metrics.
    package static let statementNames = [next.name, slots.name, rematch.name, recent.name]

    private static let next = PostgresStatement(
        name: "next_rematch", sql: "SELECT schedule.next_rematch($1, $2) AS seconds")
    private static let slots = PostgresStatement(
        name: "slots_to_rematch", sql: "SELECT starts_at FROM schedule.slots_to_rematch($1, $2, $3)")
    private static let rematch = PostgresStatement(
        name: "rematch_slot", sql: "SELECT schedule.rematch_slot($1, $2, $3, $4) AS pairs")

    private static let recent = PostgresStatement(
        name: "recent_rematches", sql: "SELECT notification FROM schedule.recent_rematches($1)")

    private let database: PostgresClient
    private let settings: ScheduleSettings
    /// The time after a lost connection for which its user still counts as present.
    private let grace: Duration

    package init(database: PostgresClient, settings: ScheduleSettings, grace: Duration) {
        self.database = database
        self.settings = settings
        self.grace = grace
    }

    /// Returns the time until a user may be alone, or a guest absent. Returns `nil` if neither is expected.
    func next() async throws -> Duration? {
        let times = Self.seconds(settings.noShowAfter, settings.lateJoinWindow)
        return try await database.query(Self.next, times, timeout: nil)[0].optionalDouble("seconds")
            .map { .seconds(max(0, $0)) }
    }

    /// Returns the slots with a waiting user who can be matched or joined late.
    package func slots() async throws -> [Instant] {
        try await database.query(Self.slots, times, timeout: nil).map { try $0.instant("starts_at") }
    }

    /// Finds new partners for the users of a slot.
    ///
    /// - Returns: The number of matches made.
    package func rematch(_ slot: Instant) async throws -> Int {
        try await database.query(Self.rematch, [.integer(slot.seconds)] + times, timeout: nil)[0].integer("pairs")
    }

    /// Returns the rematches of the last `age`, the oldest first. Used by daemons that may have missed them.
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
