import Postgres
import Sockets

/// Writes for the webhook who came and who went, many at a time, and again after the database was away.
actor PeerReporter {
    private static let perStatement = 500
    /// Events that wait while the database is away; beyond that they are lost, and the webhook isn't told.
    private static let limit = 50_000
    private static let retryPause = Duration.milliseconds(500)

    private let store: DeliveryStore
    private let active: ActiveChannels
    private let log: Log
    private let written: @Sendable () -> Void
    private var waiting: [PeerEvent] = []
    private var work: Task<Void, Never>?
    private var isFinishing = false

    /// - Parameter written: Called when there is something for the webhook.
    init(store: DeliveryStore, active: ActiveChannels, log: Log, written: @escaping @Sendable () -> Void) {
        self.store = store
        self.active = active
        self.log = log
        self.written = written
    }

    /// The same as ``add(_:)``, for who can't wait.
    nonisolated var hear: @Sendable ([PeerEvent]) -> Void {
        { events in Task { await self.add(events) } }
    }

    func add(_ events: [PeerEvent]) {
        guard active.contains(.webhook), !events.isEmpty else { return }
        guard waiting.count + events.count <= Self.limit else {
            return log.error("the webhook isn't told who came and went: too much waits", ["count": .int(events.count)])
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
            do {
                try await store.report(batch, at: .now())
                written()
            } catch let error as PostgresError where error.isUnavailable && !isFinishing {
                // Possibly written already, and then told twice; better than never.
                try? await Task.sleep(for: Self.retryPause)
                continue
            } catch {
                log.error(
                    "who came and went can't be written",
                    ["count": .int(batch.count), "error": .string("\(error)")])
            }
            waiting.removeFirst(batch.count)
        }
        work = nil
    }
}
