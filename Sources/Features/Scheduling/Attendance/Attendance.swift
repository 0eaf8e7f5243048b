package import Basics
import Domain
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
        /// All loops have answered to this roll call: what they reported before is before it.
        case rollCall(UInt32)

        var event: PresenceEvent? {
            if case .event(let event) = self { event } else { nil }
        }
    }

    /// When everybody comes at the hour, the database's processors are needed for letting them in.
    private static let rest = Duration.milliseconds(100)

    private let reports: AttendanceReports
    private let writer: BatchWriter<AttendanceReports>

    /// - Parameters:
    ///   - daemon: Whose people they are: when it dies without a word, the other daemons take them back.
    ///   - written: Called when there may be something for those who are told.
    ///   - rushIsOver: Called when nothing waits any more of thousands that came and went: what they took of memory is free.
    package init(
        store: AttendanceStore, by daemon: UUID, log: Log, written: @escaping @Sendable () -> Void,
        rushIsOver: @escaping @Sendable () -> Void = {}
    ) {
        reports = AttendanceReports(store: store, log: log, written: written, rushIsOver: rushIsOver, id: daemon)
        writer = BatchWriter(
            reports, limits: BatchLimits(itemsPerBatch: 2_048, waitingItems: 50_000, rest: Self.rest),
            on: store.executor)
    }

    package func add(_ events: [PresenceEvent]) async {
        await writer.add(events.map(Entry.event))
    }

    /// The others have given this daemon up meanwhile, and taken its people back: they are there.
    ///
    /// - Parameter callRoll: ``Rooms/callRoll(_:)``.
    package func forgotten(_ callRoll: (UInt32) async -> [Attendee: Int]) async {
        let number = await reports.beginRollCall()
        await reports.add(await callRoll(number), to: number)
        await writer.add([.rollCall(number)], evenIfFull: true)
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
    /// So many that come and go without a pause are one. Half a megabyte of them waits then, which is worth while to be given back.
    static let rush = 8_192

    let store: AttendanceStore
    let log: Log
    let written: @Sendable () -> Void
    let rushIsOver: @Sendable () -> Void
    /// Of this life of the daemon.
    let id: UUID
    /// Since nothing waited.
    private var writtenEntries = 0
    private var lastReport = 0
    private var rollCalls: UInt32 = 0
    /// The others have taken this daemon's people back, and it hasn't said yet that they are there.
    private var rollCall: RollCall?

    init(
        store: AttendanceStore, log: Log, written: @escaping @Sendable () -> Void,
        rushIsOver: @escaping @Sendable () -> Void = {}, id: UUID
    ) {
        self.store = store
        self.log = log
        self.written = written
        self.rushIsOver = rushIsOver
        self.id = id
    }

    func write(_ report: BatchQueue<AttendanceWriter.Entry>.Batch) async -> BatchOutcome {
        do {
            try await store.report(report.items.compactMap(\.event), by: id, number: report.number, at: .now())
            take(report)
            try await recount(after: report.number)
            writtenEntries += report.items.count
            written()
            return .written
        } catch {
            return BatchOutcome(error, isDivisible: false)
        }
    }

    func emptied() {
        if writtenEntries >= Self.rush { rushIsOver() }
        writtenEntries = 0
    }

    /// - Returns: Its number.
    func beginRollCall() -> UInt32 {
        rollCalls += 1
        rollCall = RollCall(number: rollCalls)
        return rollCalls
    }

    func add(_ answers: [Attendee: Int], to call: UInt32) {
        if rollCall?.number == call { rollCall?.add(answers) }
    }

    /// Does nothing if it was taken before, or nobody asks.
    private func take(_ report: BatchQueue<AttendanceWriter.Entry>.Batch) {
        guard report.number > lastReport else { return }
        lastReport = report.number
        guard rollCall != nil else { return }
        for entry in report.items {
            switch entry {
            case .event(let event): rollCall?.take(event)
            case .rollCall(let number): rollCall?.complete(number)
            }
        }
    }

    /// Throws while the database is away: then the whole batch comes again. What else goes wrong isn't the report's, which is written;
    /// the next one tries again.
    private func recount(after report: Int) async throws {
        guard let rollCall, rollCall.isComplete else { return }
        do {
            try await store.recount(rollCall.rooms, by: id, number: report)
            // It may have been called anew meanwhile.
            if self.rollCall?.number == rollCall.number { self.rollCall = nil }
        } catch {
            if let error = error as? PostgresError, error.isUnavailable { throw error }
            log.error("failed to recount the people in rooms", ["error": .string("\(error)")])
        }
    }

    func dropped(_ entries: [AttendanceWriter.Entry], _ error: (any Error)?) {
        var count = 0
        for entry in entries {
            switch entry {
            case .event: count += 1
            case .rollCall(let number): rollCall?.complete(number)
            }
        }
        guard count > 0 else { return }
        if let error {
            log.error("failed to write attendance", ["count": .int(count), "error": .string("\(error)")])
        } else {
            log.error("attendance lost: too many entries are waiting", ["count": .int(count)])
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

    /// For tasks that do little but report.
    var executor: any TaskExecutor { database.executor }

    /// Writes that these are there, and how many connections that is of each, whatever was known of them, unless a report with a greater
    /// number is written already.
    ///
    /// - Parameter rooms: Each whole: who doesn't say whose task it is counts as one with others who don't.
    func recount(
        _ rooms: [[(attendee: Attendee, connections: Int)]], by writer: UUID, number: Int
    ) async throws {
        var rooms = rooms[...]
        while !rooms.isEmpty {
            let part = rooms.prefix(Self.roomsPerRecount).flatMap { $0 }
            rooms.removeFirst(min(rooms.count, Self.roomsPerRecount))
            _ = try await database.query(
                Self.recountPeers,
                [
                    .text(writer.text), .integer(number), .uuidArray(part.map(\.attendee.room)),
                    .uuidArray(part.map(\.attendee.claimedIdentity)), .integerArray(part.map(\.connections)),
                ], timeout: nil)
        }
    }

    /// Writes that peers came and went; those of one room in their order. A report that was written before, by its number, is not
    /// written again. When a room closes the database knows by itself.
    package func report(
        _ events: [PresenceEvent], by writer: UUID, number: Int, at now: MonotonicTime
    ) async throws {
        guard !events.isEmpty else { return }
        _ = try await database.query(
            Self.reportPeers,
            [
                .text(writer.text), .integer(number), .text(Self.kinds(of: events)),
                .uuidArray(events.map(\.room)), .uuidArray(events.map(\.claimedIdentity)),
                .int32Array(events.map { Int32(clamping: $0.peers) }),
                .doubleArray(events.map { max(0, Double(now.nanoseconds) - Double($0.at.nanoseconds)) / 1e9 }),
            ], timeout: nil)
    }

    /// An array of these two has nothing to be quoted.
    private static func kinds(of events: [PresenceEvent]) -> String {
        let (joined, left) = (Array(",room.joined".utf8), Array(",room.left".utf8))
        var kinds: [UInt8] = []
        kinds.reserveCapacity(events.count * joined.count)
        for event in events { kinds += event.kind == .joined ? joined : left }
        return "{\(String(decoding: kinds.dropFirst(), as: UTF8.self))}"
    }
}
