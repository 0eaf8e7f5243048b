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
        /// Nothing: that there is a batch, with which comes what is asked for otherwise.
        case wake
    }

    private let reports: AttendanceReports
    private let writer: BatchWriter<AttendanceReports>

    /// - Parameters:
    ///   - daemon: Whose people they are: when it dies without a word, the other daemons take them back.
    ///   - written: Called when there may be something for those who are told.
    package init(store: AttendanceStore, by daemon: UUID, log: Log, written: @escaping @Sendable () -> Void) {
        reports = AttendanceReports(store: store, log: log, written: written, id: daemon)
        writer = BatchWriter(reports, limits: BatchLimits(itemsPerBatch: 500, waitingItems: 50_000))
    }

    package func add(_ events: [PresenceEvent]) async {
        await writer.add(events.map(Entry.event))
    }

    /// The others have given this daemon up meanwhile, and taken its people back: they are there.
    package func forgotten() async {
        await reports.forgotten()
        // If so much waits that it isn't taken, a batch comes without it.
        await writer.add([.wake])
    }

    /// The same as ``add(_:)``, for who can't wait. Any thread: what comes from a room's loop stays in its order.
    package func report(_ events: [PresenceEvent]) {
        writer.submit(events.map(Entry.event))
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
    /// The others have taken this daemon's people back, and it hasn't said yet that they are there.
    private var isForgotten = false

    init(store: AttendanceStore, log: Log, written: @escaping @Sendable () -> Void, id: UUID) {
        self.store = store
        self.log = log
        self.written = written
        self.id = id
    }

    func write(_ report: BatchQueue<AttendanceWriter.Entry>.Batch) async -> BatchOutcome {
        let events = Self.events(report.items)
        do {
            try await store.report(events, by: id, number: report.number, at: .now())
            peers.take(events, of: report.number)
            try await recountIfForgotten(report.number)
            written()
            return .written
        } catch {
            return BatchOutcome(error, isDivisible: false)
        }
    }

    func forgotten() {
        isForgotten = true
    }

    /// Throws while the database is away: then the whole batch comes again. What else goes wrong isn't the report's, which is written;
    /// the next one tries again.
    private func recountIfForgotten(_ number: Int) async throws {
        guard isForgotten else { return }
        // Before: it may be asked for again meanwhile.
        isForgotten = false
        do {
            try await store.recount(peers, by: id, number: number)
        } catch {
            isForgotten = true
            if let error = error as? PostgresError, error.isUnavailable { throw error }
            log.error("who is there can't be counted again", ["error": .string("\(error)")])
        }
    }

    private static func events(_ entries: [AttendanceWriter.Entry]) -> [PresenceEvent] {
        entries.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    func dropped(_ entries: [AttendanceWriter.Entry], _ error: (any Error)?) {
        var count = 0
        for event in Self.events(entries) {
            if event.kind == .closed { peers.close(event.room) } else { count += 1 }
        }
        guard count > 0 else { return }
        if let error {
            log.error("who came and went can't be written", ["count": .int(count), "error": .string("\(error)")])
        } else {
            log.error("who came and went is lost: too much waits", ["count": .int(count)])
        }
    }
}

/// Who was in a match's room, and from when to when, in the database. Throws `PostgresError`.
package struct AttendanceStore: Sendable {
    /// The names that metrics go by.
    package static let statementNames = [reportPeers.name, recountPeers.name]

    private static let reportPeers = PostgresStatement(
        name: "report_peers",
        sql: "SELECT letsswitch.report_peers($1, $2, $3, $4, $5, $6, $7)")

    private static let roomsPerRecount = 1_000
    private static let recountPeers = PostgresStatement(
        name: "recount_peers",
        sql: "SELECT letsswitch.recount_peers($1, $2, $3, $4, $5)")

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// Writes that these are there, whatever was known of them, unless a report with a greater number is written already.
    func recount(_ peers: ReportedPeers, by writer: UUID, number: Int) async throws {
        // Each room whole: who doesn't say whose task it is counts as one with others who don't.
        var rooms = Array(peers.rooms)
        while !rooms.isEmpty {
            let part = rooms.suffix(Self.roomsPerRecount).flatMap { room in
                peers.connections(in: room).map { (room: room, claimedIdentity: $0.claimedIdentity, count: $0.count) }
            }
            rooms.removeLast(min(rooms.count, Self.roomsPerRecount))
            _ = try await database.query(
                Self.recountPeers,
                [
                    .text(writer.uuidString), .integer(number), .uuidArray(part.map(\.room)),
                    .uuidArray(part.map(\.claimedIdentity)), .integerArray(part.map(\.count)),
                ], timeout: nil)
        }
    }

    /// Writes that peers came and went; those of one room in their order. A report that was written before, by its number, is not
    /// written again. When a room closes the database knows by itself.
    package func report(_ events: [PresenceEvent], by writer: UUID, number: Int, at now: MonotonicTime) async throws {
        let events = events.filter { $0.kind != .closed }
        guard !events.isEmpty else { return }
        _ = try await database.query(
            Self.reportPeers,
            [
                .text(writer.uuidString), .integer(number),
                .textArray(events.map { $0.kind == .joined ? "room.joined" : "room.left" }),
                .uuidArray(events.map(\.room)), .uuidArray(events.map(\.claimedIdentity)),
                .integerArray(events.map(\.peers)),
                .textArray(events.map { "\(max(.zero, now - $0.at) / .seconds(1))" }),
            ], timeout: nil)
    }
}
