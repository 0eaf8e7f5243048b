import FoundationEssentials
import Observability
import Postgres
import Rooms
import Sockets

/// Writes who came to a room and who went, many at a time: for the match's attendance, which is always kept, and for whoever is told of
/// events.
///
/// ```
/// loops ──► waiting (50,000 at most; what comes then is lost, and the log says so)
///              └──► report (500 at most, numbered) ──► database
///                      ▲                 └── away: the same report again, which is written once by its number
///                      └─ anything else wrong with it: it is lost, and the log says so
/// ```
actor AttendanceWriter {
    private static let perStatement = 500
    private static let limit = 50_000
    private static let retryPause = Duration.milliseconds(500)

    private let store: DeliveryStore
    private let log: Log
    private let written: @Sendable () -> Void
    /// Of this life of the daemon.
    private let id = UUID()
    private var reports = 0
    private var waiting: [PresenceEvent] = []
    private var work: Task<Void, Never>?
    private var isFinishing = false

    /// - Parameter written: Called when there may be something for those who are told.
    init(store: DeliveryStore, log: Log, written: @escaping @Sendable () -> Void) {
        self.store = store
        self.log = log
        self.written = written
    }

    /// The same as ``add(_:)``, for who can't wait.
    nonisolated var hear: @Sendable ([PresenceEvent]) -> Void {
        { events in Task { await self.add(events) } }
    }

    func add(_ events: [PresenceEvent]) {
        guard !events.isEmpty else { return }
        guard waiting.count + events.count <= Self.limit else {
            return log.error("who came and went is lost: too much waits", ["count": .int(events.count)])
        }
        waiting += events
        if work == nil { work = Task { await self.empty() } }
    }

    /// Returns when nothing waits, or the database doesn't take it.
    func finish() async {
        isFinishing = true
        await work?.value
    }

    private func empty() async {
        while !waiting.isEmpty {
            let batch = Array(waiting.prefix(Self.perStatement))
            reports += 1
            await write(batch, number: reports)
            waiting.removeFirst(batch.count)
        }
        work = nil
    }

    private func write(_ events: [PresenceEvent], number: Int) async {
        while true {
            do {
                try await store.report(events, by: id, number: number, at: .now())
                return written()
            } catch let error as PostgresError where error.isUnavailable && !isFinishing {
                try? await Task.sleep(for: Self.retryPause)
            } catch {
                return log.error(
                    "who came and went can't be written",
                    ["count": .int(events.count), "error": .string("\(error)")])
            }
        }
    }
}
