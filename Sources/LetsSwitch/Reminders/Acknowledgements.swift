import FoundationEssentials
import Observability
import Postgres

/// Tells the database which reminders were delivered, many at a time, and again after it was away.
actor Acknowledgements {
    /// Ids in one statement.
    private static let perStatement = 2000
    /// Ids that wait while the database is away; beyond that they are dropped, and the reminders end as missed.
    private static let limit = 200_000
    private static let retryPause = Duration.milliseconds(500)

    private let store: ReminderStore
    private let metrics: SchedulingMetrics
    private let log: Log
    private var waiting: Set<UUID> = []
    private var work: Task<Void, Never>?
    private var isFinishing = false
    /// Fewer after a statement that failed, so that one id that can't be marked doesn't stand for thousands.
    private var statementLimit = perStatement

    init(store: ReminderStore, metrics: SchedulingMetrics, log: Log) {
        self.store = store
        self.metrics = metrics
        self.log = log
    }

    func add(_ reminders: [UUID]) {
        guard waiting.count + reminders.count <= Self.limit else {
            log.error("acknowledgements dropped: the database has been away too long", ["count": .int(reminders.count)])
            return
        }
        waiting.formUnion(reminders)
        if work == nil { work = Task { await self.empty() } }
    }

    /// Returns when nothing waits, or the database doesn't take it.
    func finish() async {
        isFinishing = true
        await work?.value
    }

    private func empty() async {
        while !waiting.isEmpty {
            let batch = Array(waiting.prefix(statementLimit))
            do {
                let delivered = try await store.markDelivered(batch)
                waiting.subtract(batch)
                statementLimit = min(2 * statementLimit, Self.perStatement)
                metrics.reminders.add(.delivered, delivered.count)
            } catch let error as PostgresError where error.isUnavailable && !isFinishing {
                // Marking twice is harmless, so an unknown outcome is no matter.
                try? await Task.sleep(for: Self.retryPause)
            } catch {
                if let error = error as? PostgresError, case .server = error.kind, batch.count > 1 {
                    statementLimit = batch.count / 2
                    continue
                }
                waiting.subtract(batch)
                log.error("reminders were delivered and can't be marked so", ["error": .string("\(error)")])
            }
        }
        work = nil
    }
}
