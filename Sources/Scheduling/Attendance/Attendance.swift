package import Basics
package import FoundationEssentials
package import Observability
package import Postgres
package import Rooms

/// Writes who came to a room and who went, many at a time: for the match's attendance, which is always kept, and for whoever is told of
/// events.
package struct AttendanceWriter: Sendable {
    /// What is to be written.
    enum Entry: Sendable {
        case event(PresenceEvent)
        /// All who are there then, once more.
        case recount
    }

    private let writer: BatchWriter<AttendanceReports>

    /// - Parameters:
    ///   - daemon: Whose people they are: when it dies without a word, the other daemons take them back.
    ///   - written: Called when there may be something for those who are told.
    package init(store: AttendanceStore, by daemon: UUID, log: Log, written: @escaping @Sendable () -> Void) {
        writer = BatchWriter(
            AttendanceReports(store: store, log: log, written: written, id: daemon),
            limits: BatchLimits(itemsPerBatch: 500, waitingItems: 50_000))
    }

    package func add(_ events: [PresenceEvent]) async {
        await writer.add(events.map(Entry.event))
    }

    /// The others have given this daemon up meanwhile, and taken its people back: they are there.
    package func forgotten() async {
        await writer.add([.recount])
    }

    /// The same as ``add(_:)``, for who can't wait.
    package func report(_ events: [PresenceEvent]) {
        Task { await add(events) }
    }

    /// Returns when nothing waits, or the database doesn't take it.
    package func finish() async {
        await writer.finish()
    }
}

/// The database, for a ``BatchWriter``. A report that may have been written is sent again, and written once by its number.
actor AttendanceReports: BatchDestination {
    let store: AttendanceStore
    let log: Log
    let written: @Sendable () -> Void
    /// Of this life of the daemon.
    let id: UUID
    private var peers = ReportedPeers()

    init(store: AttendanceStore, log: Log, written: @escaping @Sendable () -> Void, id: UUID) {
        self.store = store
        self.log = log
        self.written = written
        self.id = id
    }

    func write(_ report: BatchQueue<AttendanceWriter.Entry>.Batch) async -> BatchOutcome {
        let events = Self.events(report.items)
        do {
            if !events.isEmpty { try await store.report(events, by: id, number: report.number, at: .now()) }
            peers.take(events, of: report.number)
            if events.count < report.items.count {
                try await store.recount(peers.connections, by: id)
            }
            written()
            return .written
        } catch {
            return BatchOutcome(error, isDivisible: false)
        }
    }

    private static func events(_ entries: [AttendanceWriter.Entry]) -> [PresenceEvent] {
        entries.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    func dropped(_ entries: [AttendanceWriter.Entry], _ error: (any Error)?) {
        let events = Self.events(entries)
        if let error {
            log.error(
                "who came and went can't be written",
                ["count": .int(events.count), "error": .string("\(error)")])
        } else {
            log.error("who came and went is lost: too much waits", ["count": .int(events.count)])
        }
    }
}

/// Who was in a match's room, and from when to when, in the database. Throws `PostgresError`.
package struct AttendanceStore: Sendable {
    /// The names that metrics go by.
    package static let statementNames = [reportPeers.name, recountPeers.name]

    private static let reportPeers = PostgresStatement(
        name: "report_peers",
        sql: """
            SELECT letsswitch.report_peers(
                $1, $2, $3::text[], $4::text[]::uuid[], $5::text[]::uuid[], $6::text[]::integer[],
                $7::text[]::double precision[])
            """)

    private static let roomsPerRecount = 1_000
    private static let recountPeers = PostgresStatement(
        name: "recount_peers",
        sql: """
            SELECT letsswitch.recount_peers($1, $2::text[]::uuid[], $3::text[]::uuid[], $4::text[]::integer[])
            """)

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// Writes that these are there, whatever was known of them: connections.
    func recount(_ peers: [ReportedPeers.Place: Int], by writer: UUID) async throws {
        // Each room whole: who doesn't say whose task it is counts as one with others who don't.
        var rooms = Array(Dictionary(grouping: peers, by: \.key.room).values)
        while !rooms.isEmpty {
            let part = rooms.suffix(Self.roomsPerRecount).joined()
            rooms.removeLast(min(rooms.count, Self.roomsPerRecount))
            _ = try await database.query(
                Self.recountPeers,
                [
                    .text(writer.uuidString), .textArray(part.map(\.key.room.uuidString)),
                    .textArray(part.map { $0.key.claimedIdentity?.uuidString }),
                    .textArray(part.map { "\($0.value)" }),
                ], timeout: nil)
        }
    }

    /// Writes that peers came and went; those of one room in their order. A report that was written before, by its number, is not
    /// written again.
    package func report(_ events: [PresenceEvent], by writer: UUID, number: Int, at now: MonotonicTime) async throws {
        _ = try await database.query(
            Self.reportPeers,
            [
                .text(writer.uuidString), .integer(number),
                .textArray(events.map { $0.kind == .joined ? "room.joined" : "room.left" }),
                .textArray(events.map(\.room.uuidString)),
                .textArray(events.map { $0.claimedIdentity?.uuidString }), .textArray(events.map { "\($0.peers)" }),
                .textArray(events.map { "\(max(.zero, now - $0.at) / .seconds(1))" }),
            ], timeout: nil)
    }
}
