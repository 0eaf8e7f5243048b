import Basics
import Domain
import Features
import Postgres
import Rooms
import Schema
import Wire

/// The database as the daemon uses it, and its readiness.
actor Database {
    /// How long an answer about readiness is reused.
    private static let readinessLifetime = Duration.seconds(1)
    private static let readinessTimeout = Duration.seconds(2)
    private static let ping = PostgresStatement(name: "ping", sql: "SELECT 1")
    /// This statement changes nothing, but it fails in a read-only database.
    private static let writePing = PostgresStatement(
        name: "write_ping", sql: "UPDATE reminders.claim SET expires_at = expires_at WHERE false")

    private static let roomKeySecret = PostgresStatement(
        name: "room_key_secret",
        sql: "SELECT encode(value, 'hex') AS value FROM core.secret WHERE name = 'room-keys'")
    /// The names of the statements, for metrics.
    static let statementNames = [roomKeySecret.name]

    private let pools: DatabasePools
    /// The keys of rooms. When the database is ready, all its daemons have the same keys.
    nonisolated let roomKeys = RoomKeys()

    private let refusals: DatabaseRefusals
    private(set) var isPrepared = false
    private var answered: (wasThere: Bool, at: MonotonicTime)?
    /// The running query. A caller that comes before the query ends waits for the same query.
    private var asking: Task<Bool, Never>?

    init(_ pools: DatabasePools, refusals: DatabaseRefusals) {
        self.pools = pools
        self.refusals = refusals
    }

    /// Updates the schema, and reads the keys of rooms. Before that, it refuses a connection pooler that would prevent
    /// reminders.
    ///
    /// - Parameter enter: Reads and writes what the features need before the first request is answered.
    func prepare(_ enter: @Sendable () async throws -> Void) async throws -> PostgresSchema.Change {
        try await pools.background.checkSessions()
        let change = try await pools.background.migrate(DatabaseSchema.current)
        try await enter()
        let secret = try await pools.background.query(Self.roomKeySecret).first?.string("value")
        if let secret = secret.flatMap(HexText.decode) { roomKeys.share(secret) }
        isPrepared = true
        return change
    }

    /// Returns whether the database answers and can be written to. Sends a query at most once per second, and waits at
    /// most two seconds.
    func isAnswering() async -> Bool {
        if let answered, MonotonicTime.now() - answered.at < Self.readinessLifetime { return answered.wasThere }
        if let asking { return await asking.value }
        let statement = isPrepared ? Self.writePing : Self.ping
        let asking = Task { [requests = pools.requests] in
            await (try? requests.query(statement, [], timeout: Self.readinessTimeout)) != nil
        }
        self.asking = asking
        let wasThere = await asking.value && !refusals.isRecent(at: .now())
        self.asking = nil
        answered = (wasThere, .now())
        return wasThere
    }
}

extension Database: DatabaseReadiness {
    func checkPrepared() throws(RequestError) {
        guard isPrepared else { throw .databaseUnavailable }
    }
}
