import Basics
import Domain
import Postgres
import Rooms
import Scheduling
import Schema
import Wire

/// The database as the daemon uses it: what is kept there, and whether it is ready.
actor Database {
    /// How long an answer to "are you there?" is believed.
    private static let readinessLifetime = Duration.seconds(1)
    private static let readinessTimeout = Duration.seconds(2)
    private static let ping = PostgresStatement(name: "ping", sql: "SELECT 1")
    /// Changes nothing, and is refused where nothing may be changed.
    private static let writePing = PostgresStatement(
        name: "write_ping", sql: "UPDATE letsswitch.claim SET expires_at = expires_at WHERE false")

    private static let roomKeySecret = PostgresStatement(
        name: "room_key_secret",
        sql: "SELECT encode(value, 'hex') AS value FROM letsswitch.secret WHERE name = 'room-keys'")
    /// The names that metrics go by.
    static let statementNames = [roomKeySecret.name]

    nonisolated let stores: DatabaseStores
    /// The same for all daemons on this database, once it is ready.
    nonisolated let roomKeys = RoomKeys()

    private let refusals: DatabaseRefusals
    private var zones: TimeZoneNames?
    private var answered: (wasThere: Bool, at: MonotonicTime)?
    /// The question that is under way: however many ask, the database is asked once.
    private var asking: Task<Bool, Never>?

    init(_ stores: DatabaseStores, refusals: DatabaseRefusals) {
        self.stores = stores
        self.refusals = refusals
    }

    /// Brings the schema up to date and reads what is read once.
    ///
    /// - Parameter enter: What has to stand in the database before the first request is answered.
    func prepare(_ enter: @Sendable () async throws -> Void) async throws -> PostgresSchema.Change {
        let change = try await stores.background.migrate(DatabaseSchema.current)
        try await enter()
        let secret = try await stores.background.query(Self.roomKeySecret).first?.string("value")
        if let secret = secret.flatMap(HexText.decode) { roomKeys.share(secret) }
        zones = try await stores.backgroundSchedule.timeZoneNames()
        return change
    }

    /// The zones that requests may name.
    ///
    /// - Throws: `503` before ``prepare()`` has succeeded.
    func timeZoneNames() throws(RequestError) -> TimeZoneNames {
        guard let zones else { throw .databaseUnavailable }
        return zones
    }

    var isPrepared: Bool { zones != nil }

    /// Whether the database answers now, and can be written; asked at most once a second, and given two.
    func isAnswering() async -> Bool {
        if let answered, MonotonicTime.now() - answered.at < Self.readinessLifetime { return answered.wasThere }
        if let asking { return await asking.value }
        let statement = isPrepared ? Self.writePing : Self.ping
        let asking = Task { [requests = stores.requests] in
            await (try? requests.query(statement, [], timeout: Self.readinessTimeout)) != nil
        }
        self.asking = asking
        let wasThere = await asking.value && !refusals.isRecent(at: .now())
        self.asking = nil
        answered = (wasThere, .now())
        return wasThere
    }
}
