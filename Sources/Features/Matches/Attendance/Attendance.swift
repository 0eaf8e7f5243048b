package import Basics
import Domain
package import FoundationEssentials
package import Observability
package import Postgres
package import Rooms

/// Writes in batches which members entered and left the rooms of matches. The database stores them as the attendance of
/// matches. If events have subscribers, such as the webhook, it also writes them to the outbox.
package struct AttendanceWriter: Sendable {
    /// An element of a batch.
    enum Entry: Sendable {
        case event(PresenceEvent)
        /// Marks the end of a roll call: all loops have answered. Events that the loops reported before their answers
        /// come before this element.
        case rollCall(UInt32)

        var event: PresenceEvent? {
            if case .event(let event) = self { event } else { nil }
        }
    }

    /// The pause between batches. When many users arrive at the same time, the database's CPU is needed to admit them.
    private static let rest = Duration.milliseconds(100)

    private let reports: AttendanceReports
    private let writer: BatchWriter<AttendanceReports>

    /// - Parameters:
    ///   - daemon: This daemon's id. If the daemon dies, other daemons remove its attendees.
    ///   - written: Called when there may be new events.
    ///   - rushIsOver: Called when thousands of entries have been written and none are waiting, so their memory can be
    ///     returned.
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

    /// Reports again which attendees are present. Other daemons have considered this daemon dead and removed its
    /// attendees.
    ///
    /// - Parameter callRoll: ``Rooms/callRoll(_:)``.
    package func reportAgain(_ callRoll: (UInt32) async -> [Attendee: Int]) async {
        let number = await reports.beginRollCall()
        await reports.add(await callRoll(number), to: number)
        await writer.add([.rollCall(number)], evenIfFull: true)
    }

    /// Adds events without waiting. Events of a room's loop stay in order. Any thread may call it.
    package func report(_ events: [PresenceEvent]) {
        writer.submit(events.map(Entry.event))
    }

    /// Returns when all entries are written, or when the database accepts no more.
    package func finish() async {
        await writer.finish()
    }
}

/// Writes reports to the database for a ``BatchWriter``. A report with an unknown outcome is sent again, and its number
/// prevents a second write.
actor AttendanceReports: BatchDestination {
    /// The number of consecutive entries that count as a rush. After a rush, about half a megabyte of memory is
    /// returned.
    static let rush = 8_192

    let store: AttendanceStore
    let log: Log
    let written: @Sendable () -> Void
    let rushIsOver: @Sendable () -> Void
    /// Identifies this run of the daemon.
    let id: UUID
    /// The number of entries written since the queue was last empty.
    private var writtenEntries = 0
    private var lastReport = 0
    private var rollCalls: UInt32 = 0
    /// The running roll call. It starts when other daemons have removed this daemon's attendees.
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

    /// Begins a roll call.
    ///
    /// - Returns: The number of the roll call.
    func beginRollCall() -> UInt32 {
        rollCalls += 1
        rollCall = RollCall(number: rollCalls)
        return rollCalls
    }

    func add(_ answers: [Attendee: Int], to call: UInt32) {
        if rollCall?.number == call { rollCall?.add(answers) }
    }

    /// Counts a written report for the roll call. Does nothing if the report was counted before or no roll call is
    /// running.
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

    /// Writes the result of the roll call, if it is complete. Throws only while the database is unavailable, and then
    /// the whole batch is sent again. Other errors don't affect the report, which is already written. The next report
    /// tries the roll call again.
    private func recount(after report: Int) async throws {
        guard let rollCall, rollCall.isComplete else { return }
        do {
            try await store.recount(rollCall.rooms, by: id, number: report)
            // Another roll call may have started during the recount.
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

/// The attendance of matches' rooms in the database. Throws `PostgresError`.
package struct AttendanceStore: Sendable {
    /// The names of the statements, for metrics.
    package static let statementNames = [reportPeers.name, recountPeers.name]

    private static let reportPeers = PostgresStatement(
        name: "report_peers",
        sql: "SELECT matches.report_peers($1, $2, $3, $4, $5, $6, $7)")

    private static let roomsPerRecount = 1_000
    private static let recountPeers = PostgresStatement(
        name: "recount_peers",
        sql: "SELECT matches.recount_peers($1, $2, $3, $4, $5)")

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// The executor for tasks that mostly send reports.
    var executor: any TaskExecutor { database.executor }

    /// Replaces the stored attendees of rooms and their numbers of connections. Does nothing if this daemon has already
    /// written a report with a greater `number`, because that report is newer.
    ///
    /// - Parameter rooms: All attendees of each room. All members of a room that name no task are one attendee
    ///   together.
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

    /// Writes which members entered and left, in the order of each room. A report with a known number isn't written
    /// again. When a room closes, the database itself ends the attendance.
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

    /// Returns the kinds as a PostgreSQL array. Neither of its two words needs quotes.
    private static func kinds(of events: [PresenceEvent]) -> String {
        let (joined, left) = (Array(",room.joined".utf8), Array(",room.left".utf8))
        var kinds: [UInt8] = []
        kinds.reserveCapacity(events.count * joined.count)
        for event in events { kinds += event.kind == .joined ? joined : left }
        return "{\(String(decoding: kinds.dropFirst(), as: UTF8.self))}"
    }
}
