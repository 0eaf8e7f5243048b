import Basics
import Domain
import FoundationEssentials
package import Postgres

/// What is to be sent, in the database. Every operation is one statement. Throws `PostgresError`.
///
///     NOTIFY letsswitch_deliveries  payload: the provider that has something to send which nobody was woken for
package struct DeliveryStore: Sendable {
    package static let notifications = "letsswitch_deliveries"
    /// The names that metrics go by.
    package static let statementNames = Statement.all.map(\.name)

    /// A statement each, a transaction each.
    private enum Statement {
        static let all = [startProvider, turnAway, lease, renew, finish, next, drop, clear]

        static let startProvider = PostgresStatement(
            name: "start_provider", sql: "SELECT letsswitch.start_provider($1) AS start")
        static let turnAway = PostgresStatement(
            name: "turn_away_provider", sql: "SELECT letsswitch.turn_away_provider($1, $2) AS is_off")
        static let lease = PostgresStatement(
            name: "lease_deliveries", sql: "SELECT * FROM letsswitch.lease_deliveries($1, $2, $3, $4)")
        static let renew = PostgresStatement(
            name: "renew_deliveries",
            sql: "SELECT id FROM letsswitch.renew_deliveries($1::bigint[], $2::integer[], $3)")
        static let finish = PostgresStatement(
            name: "finish_deliveries",
            sql: """
                SELECT reminder_id FROM letsswitch.finish_deliveries(
                    $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::integer[], $6::boolean[],
                    $7::double precision[])
                """)
        static let next = PostgresStatement(name: "next_delivery", sql: "SELECT * FROM letsswitch.next_delivery($1)")
        static let drop = PostgresStatement(
            name: "drop_deliveries", sql: "SELECT letsswitch.drop_deliveries($1, $2, $3) AS dropped")
        static let clear = PostgresStatement(
            name: "clear_deliveries", sql: "SELECT letsswitch.clear_deliveries($1, $2) AS cleared")
    }

    private let database: PostgresClient
    private let others: PostgresClient

    /// - Parameter others: For leases of what isn't urgent, and for trimming: behind a statement that hangs waits all that comes on
    ///   the same connection.
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

    /// What a lease gave.
    struct Leased: Sendable {
        var deliveries: [Delivery] = []
        /// Rows whose deadline has passed; they are gone already.
        var expired = 0
        /// Ids of those that there is nobody any more to send to; to be finished as dropped.
        var orphans: [Int] = []

        var count: Int { deliveries.count + expired + orphans.count }
    }

    /// This daemon serves the provider from now on: whoever claims a task writes its deliveries.
    ///
    /// - Returns: The number of the start.
    func start(_ provider: ProviderName) async throws -> Int {
        try await database.query(Statement.startProvider, [.text(provider.rawValue)], timeout: nil)[0]
            .integer("start")
    }

    /// The provider's server wants nothing any more of the daemon with this start.
    ///
    /// - Returns: Whether nothing is written for the provider from now on. Otherwise a daemon that has started with it since serves it.
    func turnAway(_ provider: ProviderName, start: Int) async throws -> Bool {
        try await database.query(
            Statement.turnAway, [.text(provider.rawValue), .integer(start)], timeout: nil)[0].boolean("is_off")
    }

    /// Takes up to `limit` of a provider's deliveries that are due, the longest due first, for the time of `lease`.
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

    /// Keeps what is in hand for another `lease`.
    ///
    /// - Returns: The ids of what is kept. What isn't is somebody else's by now, or done with.
    func renew(_ deliveries: [Delivery], for lease: Duration) async throws -> [Int] {
        let rows = try await database.query(
            Statement.renew,
            [
                .integerArray(deliveries.map(\.id)), .integerArray(deliveries.map(\.attempt)),
                .double(lease / .seconds(1)),
            ], timeout: nil)
        return try rows.map { try $0.integer("id") }
    }

    /// Writes what became of deliveries.
    ///
    /// - Returns: The reminders that are delivered by it, and weren't before.
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

    /// When the provider has something to do; what is leased, when its lease ends. Asked for whoever leases this kind.
    func next(_ provider: ProviderName, for kind: DeliveryKind) async throws -> NextDelivery {
        let row = try await client(for: kind).query(Statement.next, [.text(provider.rawValue)], timeout: nil)[0]
        return NextDelivery(
            urgent: try row.optionalDouble("urgent"), others: try row.optionalDouble("others"),
            now: try row.double("now"), waiting: try row.integer("waiting"))
    }

    /// Deletes the provider's oldest deliveries, up to `limit`, as far as they aren't among the `keep` newest of all providers; no
    /// reminders, which don't count either.
    ///
    /// - Returns: How many.
    func drop(_ provider: ProviderName, keep: Int, limit: Int) async throws -> Int {
        let rows = try await others.query(
            Statement.drop, [.text(provider.rawValue), .integer(keep), .integer(limit)], timeout: nil)
        return try rows[0].integer("dropped")
    }

    /// Deletes up to `limit` deliveries of a provider that was turned away.
    ///
    /// - Returns: How many; 0 also when a daemon has started with it again.
    func clear(_ provider: ProviderName, limit: Int) async throws -> Int {
        try await database.query(
            Statement.clear, [.text(provider.rawValue), .integer(limit)], timeout: nil)[0].integer("cleared")
    }
}

/// When a provider has something to do, and how much. Epoch seconds, by the database's clock.
struct NextDelivery: Sendable, Hashable {
    let urgent: Double?
    let others: Double?
    let now: Double
    /// Counted to 10,000.
    let waiting: Int

    func due(_ kind: DeliveryKind) -> Double? {
        switch kind {
        case .reminders: urgent
        case .others: others
        }
    }
}

/// A delivery and what is done about it.
struct FinishedDelivery: Sendable, Hashable {
    let id: Int
    let attempt: Int
    let decision: RetryDecision
}
