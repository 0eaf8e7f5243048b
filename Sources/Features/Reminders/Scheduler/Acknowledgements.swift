import Basics
import FoundationEssentials
import Observability
import Postgres

/// Marks delivered reminders in the database, in batches. Tries again if the database was unavailable.
typealias Acknowledgements = BatchWriter<ReminderAcknowledger>

/// Marks reminders as delivered. Marking a reminder twice is harmless, so a batch with an unknown outcome is tried
/// again.
struct ReminderAcknowledger: BatchDestination {
    /// Reminders beyond the limit aren't marked, so they end as missed.
    static let limits = BatchLimits(itemsPerBatch: 2000, waitingItems: 200_000)

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
