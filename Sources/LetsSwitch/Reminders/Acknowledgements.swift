import Basics
import FoundationEssentials
import Observability
import Postgres

/// Tells the database which reminders were delivered, many at a time, and again after it was away.
typealias Acknowledgements = BatchWriter<ReminderAcknowledger>

extension BatchWriter<ReminderAcknowledger> {
    init(store: ReminderStore, metrics: SchedulingMetrics, log: Log) {
        self.init(
            ReminderAcknowledger(store: store, metrics: metrics, log: log),
            // Those whom nobody marks end as missed.
            limits: BatchLimits(itemsPerBatch: 2000, waitingItems: 200_000))
    }
}

/// Marks reminders as delivered. Marking twice is harmless, so an unknown outcome is no matter.
struct ReminderAcknowledger: BatchDestination {
    let store: ReminderStore
    let metrics: SchedulingMetrics
    let log: Log

    func write(_ batch: BatchQueue<UUID>.Batch) async -> BatchOutcome {
        do {
            let delivered = try await store.markDelivered(batch.items)
            metrics.reminders.add(.delivered, delivered.count)
            return .written
        } catch {
            // One id that can't be marked doesn't stand for thousands.
            return BatchOutcome(error, isDivisible: true)
        }
    }

    func dropped(_ reminders: [UUID], _ error: (any Error)?) {
        if let error {
            log.error("reminders were delivered and can't be marked so", ["error": .string("\(error)")])
        } else {
            log.error(
                "acknowledgements dropped: the database has been away too long", ["count": .int(reminders.count)])
        }
    }
}

extension BatchOutcome {
    /// - Parameter isDivisible: Whether half of a batch may be taken where the whole is not.
    init(_ error: any Error, isDivisible: Bool) {
        guard let failure = error as? PostgresError else {
            self = .failed(error)
            return
        }
        if failure.isUnavailable {
            self = .unavailable(error)
        } else if isDivisible, case .server = failure.kind {
            self = .refused(error)
        } else {
            self = .failed(error)
        }
    }
}
