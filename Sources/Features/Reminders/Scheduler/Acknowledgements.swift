import Basics
package import FoundationEssentials
package import Observability
import Postgres

/// Marks delivered reminders in the database, in batches. Tries again if the database was unavailable.
package struct Acknowledgements: Sendable {
    private let writer: BatchWriter<ReminderAcknowledger>

    package init(store: ReminderStore, metrics: ReminderMetrics, log: Log) {
        writer = BatchWriter(
            ReminderAcknowledger(store: store, metrics: metrics, log: log),
            // Reminders beyond the limit aren't marked, so they end as missed.
            limits: BatchLimits(itemsPerBatch: 2000, waitingItems: 200_000))
    }

    /// Adds delivered reminders.
    package func add(_ reminders: [UUID]) async {
        await writer.add(reminders)
    }

    /// Returns when all reminders are marked, or when the database accepts no more.
    package func finish() async {
        await writer.finish()
    }
}

/// Marks reminders as delivered. Marking a reminder twice is harmless, so a batch with an unknown outcome is tried
/// again.
struct ReminderAcknowledger: BatchDestination {
    let store: ReminderStore
    let metrics: ReminderMetrics
    let log: Log

    func write(_ batch: BatchQueue<UUID>.Batch) async -> BatchOutcome {
        do {
            let delivered = try await store.markDelivered(batch.items)
            metrics.reminders.add(.delivered, delivered.count)
            return .written
        } catch {
            // A batch that fails is divided, so that one invalid id doesn't prevent marking thousands of others.
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
