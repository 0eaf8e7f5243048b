import Basics
import FoundationEssentials
package import Postgres
import Rooms

/// The daemons' rows in the database. Every operation is one statement. Throws `PostgresError`.
package struct DaemonStore: Sendable {
    /// The channel on which a daemon notifies the others of its start and end. The payload is its id.
    package static let channel = "letsswitch_daemons"
    /// The statements' names in metrics.
    package static let statementNames = [beat, end, closePresence].map(\.name)

    private static let beat = PostgresStatement(
        name: "beat",
        sql: "SELECT * FROM operations.beat($1::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)")
    private static let end = PostgresStatement(name: "stop_daemon", sql: "SELECT operations.stop_daemon($1::uuid)")
    private static let closePresence = PostgresStatement(
        name: "close_presence", sql: "SELECT matches.close_presence(500) AS is_open")
    private static let alive = PostgresStatement(
        name: "",
        sql: """
            SELECT daemon.*, true AS is_fresh FROM core.daemon
            WHERE seen_at > core.clock() - interval '15 s'
            ORDER BY host, id
            """)
    private static let timeout = Duration.seconds(3)

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// Increments the counter of our row, stores the state of the bus, and removes the rows of `gone` unless they have
    /// changed since.
    ///
    /// - Returns: All rows, including our own.
    func beat(_ own: DaemonInfo, _ bus: BusStatus, gone: [DaemonRow]) async throws -> [DaemonRow] {
        let rows = try await database.query(
            Self.beat,
            [
                .text(own.id.description), .text(own.host), .text(own.build), .integer(own.language), .text(own.bus),
                .textArray(gone.map(\.info.id.description)), .integerArray(gone.map(\.beats)),
                .boolean(bus.isConnected), bus.delay.map { .integer($0.wholeMilliseconds) } ?? .null,
                .integer(bus.lost), .integer(bus.dropped),
            ], timeout: Self.timeout)
        return try rows.compactMap(Self.row)
    }

    func end(_ id: DaemonID) async throws {
        _ = try await database.query(Self.end, [.text(id.description)], timeout: Self.timeout)
    }

    /// Records for some people of removed daemons that they have left their rooms.
    ///
    /// - Returns: Whether there may be more.
    func closePresence() async throws -> Bool {
        try await database.query(Self.closePresence, [], timeout: Self.timeout)[0].boolean("is_open")
    }

    /// Returns the daemons whose counters grew within the last 15 seconds, by the database's clock. Operators' commands
    /// show the result.
    package func alive() async throws -> [DaemonReport] {
        try await database.query(Self.alive, [], timeout: Self.timeout).compactMap { row in
            try Self.row(row).map { DaemonReport(info: $0.info, bus: try Self.bus(row)) }
        }
    }

    private static func bus(_ row: PostgresRow) throws -> BusStatus {
        BusStatus(
            isConnected: try row.boolean("is_bus_connected"),
            delay: try row.optionalInteger("bus_delay").map { .milliseconds($0) },
            lost: try row.integer("bus_lost"), dropped: try row.integer("bus_dropped"))
    }

    private static func row(_ row: PostgresRow) throws -> DaemonRow? {
        guard let id = UUID(uuidString: try row.string("id")) else { return nil }
        return DaemonRow(
            info: DaemonInfo(
                id: DaemonID(id), host: try row.string("host"), build: try row.string("build"),
                language: try row.integer("bus_version"), bus: try row.string("bus")),
            beats: try row.integer("beats"), isFresh: try row.boolean("is_fresh"))
    }
}

/// A daemon's row.
struct DaemonRow: Sendable, Hashable {
    let info: DaemonInfo
    /// The counter of beats.
    let beats: Int
    /// Whether the counter grew within the last 15 seconds, by the database's clock.
    let isFresh: Bool
}
