import Basics
import Domain
import FoundationEssentials
package import Postgres

/// The waiting deliveries in the database. Every operation is one statement. Throws `PostgresError`.
///
/// ```
///     NOTIFY letsswitch_deliveries  payload: a provider with deliveries that no worker was woken for
/// ```
package struct DeliveryStore: Sendable {
    package static let notifications = "letsswitch_deliveries"
    /// The names of the statements, for metrics.
    package static let statementNames = Statement.all.map(\.name)

    /// The statements. Each runs in a transaction of its own.
    private enum Statement {
        static let all = [startProvider, storeRefusal, lease, renew, finish, next, drop, clear]

        static let startProvider = PostgresStatement(
            name: "start_provider", sql: "SELECT notifications.start_provider($1) AS start")
        static let storeRefusal = PostgresStatement(
            name: "disable_provider", sql: "SELECT notifications.disable_provider($1, $2) AS is_off")
        static let lease = PostgresStatement(
            name: "lease_deliveries",
            sql: """
                SELECT *, \(PostgresStatement.microseconds("happened_at", "deadline", "now", "registered_at"))
                FROM notifications.lease_deliveries($1, $2, $3, $4)
                """)
        static let renew = PostgresStatement(
            name: "renew_deliveries",
            sql: "SELECT id FROM notifications.renew_deliveries($1::bigint[], $2::integer[], $3)")
        static let finish = PostgresStatement(
            name: "finish_deliveries",
            sql: """
                SELECT reminder_id FROM notifications.finish_deliveries(
                    $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::integer[], $6::boolean[],
                    $7::double precision[])
                """)
        static let next = PostgresStatement(
            name: "next_delivery",
            sql: """
                SELECT waiting, \(PostgresStatement.microseconds("urgent", "others", "now"))
                FROM notifications.next_delivery($1)
                """)
        static let drop = PostgresStatement(
            name: "drop_deliveries", sql: "SELECT notifications.drop_deliveries($1, $2, $3) AS dropped")
        static let clear = PostgresStatement(
            name: "clear_deliveries", sql: "SELECT notifications.clear_deliveries($1, $2) AS cleared")
    }

    private let database: PostgresClient
    private let others: PostgresClient

    /// - Parameter others: Leases deliveries that aren't urgent, and deletes the oldest. A client of its own, because a
    ///   statement that hangs delays everything on its connection.
    package init(database: PostgresClient, others: PostgresClient) {
        self.database = database
        self.others = others
    }

    private func client(for kind: DeliveryKind) -> PostgresClient {
        switch kind {
        case .reminders: database
        case .others: others
        }
    }

    /// The result of a lease.
    struct Leased: Sendable {
        var deliveries: [Delivery] = []
        /// The number of rows that were deleted because their deadline had passed.
        var expired = 0
        /// The ids of deliveries whose target was erased. These deliveries must be finished as dropped.
        var orphans: [Int] = []

        var count: Int { deliveries.count + expired + orphans.count }
    }

    /// Registers this daemon for the provider. From then on, claims write deliveries for the provider.
    ///
    /// - Returns: The number of this start.
    func start(_ provider: ProviderName) async throws -> Int {
        try await database.query(Statement.startProvider, [.text(provider.rawValue)], timeout: nil)[0]
            .integer("start")
    }

    /// Records that the provider's server has permanently refused the daemon of this start.
    ///
    /// - Returns: Whether no more deliveries are written for the provider. `false` if a daemon with a later start
    ///   serves it.
    func storeRefusal(_ provider: ProviderName, start: Int) async throws -> Bool {
        try await database.query(
            Statement.storeRefusal, [.text(provider.rawValue), .integer(start)], timeout: nil)[0].boolean("is_off")
    }

    /// Leases up to `limit` due deliveries of a provider for the duration `lease`. The longest due come first.
    func lease(
        _ provider: ProviderName, _ kind: DeliveryKind, limit: Int, for lease: Duration
    ) async throws -> Leased {
        let (urgent, others) = kind == .reminders ? (limit, 0) : (0, limit)
        let rows = try await client(for: kind).query(
            Statement.lease,
            [.text(provider.rawValue), .integer(urgent), .integer(others), .double(lease / .seconds(1))], timeout: nil)
        var leased = Leased()
        for row in rows {
            switch try row.string("verdict") {
            case "send": leased.deliveries.append(try Delivery(row, provider))
            case "expired": leased.expired += 1
            default: leased.orphans.append(try row.integer("id"))
            }
        }
        return leased
    }

    /// Extends the leases by another `lease`.
    ///
    /// - Returns: The ids of the extended leases. Deliveries that are missing were finished, or another daemon has
    ///   leased them.
    func renew(_ deliveries: [Delivery], for lease: Duration) async throws -> [Int] {
        let rows = try await database.query(
            Statement.renew,
            [
                .integerArray(deliveries.map(\.id)), .integerArray(deliveries.map(\.attempt)),
                .double(lease / .seconds(1)),
            ], timeout: nil)
        return try rows.map { try $0.integer("id") }
    }

    /// Stores the outcomes of deliveries.
    ///
    /// - Returns: The reminders that these deliveries delivered first.
    func finish(_ finished: [FinishedDelivery]) async throws -> [UUID] {
        var accepted: [Int] = []
        var dropped: [Int] = []
        var gone: [Int] = []
        var again: (ids: [Int], attempts: [Int], begun: [String?], delays: [String?]) = ([], [], [], [])
        for finished in finished {
            switch finished.decision {
            case .accepted: accepted.append(finished.id)
            case .dropped: dropped.append(finished.id)
            case .gone: gone.append(finished.id)
            case .again(let delay, let counts):
                again.ids.append(finished.id)
                again.attempts.append(finished.attempt)
                again.begun.append(counts ? "t" : "f")
                again.delays.append("\(delay / .seconds(1))")
            }
        }
        let rows = try await database.query(
            Statement.finish,
            [
                .integerArray(accepted), .integerArray(dropped), .integerArray(gone), .integerArray(again.ids),
                .integerArray(again.attempts), .textArray(again.begun), .textArray(again.delays),
            ], timeout: nil)
        return try rows.map { try $0.uuid("reminder_id") }
    }

    /// Returns the time of the provider's next work of this kind: a due delivery, or the end of a lease.
    func next(_ provider: ProviderName, for kind: DeliveryKind) async throws -> NextDelivery {
        let row = try await client(for: kind).query(Statement.next, [.text(provider.rawValue)], timeout: nil)[0]
        return NextDelivery(
            urgent: try row.optionalEpoch("urgent_us"), others: try row.optionalEpoch("others_us"),
            now: try row.epoch("now_us"), waiting: try row.integer("waiting"))
    }

    /// Deletes up to `limit` of the provider's oldest deliveries. Keeps the `keep` newest deliveries of all providers.
    /// Reminders are neither deleted nor counted.
    ///
    /// - Returns: The number of deleted deliveries.
    func drop(_ provider: ProviderName, keep: Int, limit: Int) async throws -> Int {
        let rows = try await others.query(
            Statement.drop, [.text(provider.rawValue), .integer(keep), .integer(limit)], timeout: nil)
        return try rows[0].integer("dropped")
    }

    /// Deletes up to `limit` deliveries of a provider that was permanently refused.
    ///
    /// - Returns: The number of deleted deliveries. 0 if a daemon has started with the provider again.
    func clear(_ provider: ProviderName, limit: Int) async throws -> Int {
        try await database.query(
            Statement.clear, [.text(provider.rawValue), .integer(limit)], timeout: nil)[0].integer("cleared")
    }
}

/// The times of a provider's next work, and the number of waiting deliveries. Epoch seconds of the database's clock.
struct NextDelivery: Sendable, Hashable {
    let urgent: Double?
    let others: Double?
    let now: Double
    /// The number of waiting deliveries, counted up to 10,000.
    let waiting: Int

    func due(_ kind: DeliveryKind) -> Double? {
        switch kind {
        case .reminders: urgent
        case .others: others
        }
    }
}

/// A delivery and its outcome.
struct FinishedDelivery: Sendable, Hashable {
    let id: Int
    let attempt: Int
    let decision: RetryDecision
}
