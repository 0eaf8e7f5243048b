import Basics
package import FoundationEssentials
package import Observability
import Postgres

/// Tells the database which reminders were delivered, many at a time, and again after it was away.
package struct Acknowledgements: Sendable {
    private let writer: BatchWriter<ReminderAcknowledger>

    package init(store: ReminderStore, metrics: SchedulingMetrics, log: Log) {
        writer = BatchWriter(
            ReminderAcknowledger(store: store, metrics: metrics, log: log),
            // Those whom nobody marks end as missed.
            limits: BatchLimits(itemsPerBatch: 2000, waitingItems: 200_000))
    }

    /// These were delivered.
    package func add(_ reminders: [UUID]) async {
        await writer.add(reminders)
    }

    /// Returns when nothing waits, or the database doesn't take it.
    package func finish() async {
        await writer.finish()
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
            log.error("failed to mark reminders as delivered", ["error": .string("\(error)")])
        } else {
            log.error(
                "acknowledgements dropped: the database was unavailable for too long", ["count": .int(reminders.count)])
        }
    }
}
