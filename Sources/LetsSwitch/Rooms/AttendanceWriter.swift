import Basics
import FoundationEssentials
import Observability
import Rooms

/// Writes who came to a room and who went, many at a time: for the match's attendance, which is always kept, and for whoever is told of
/// events.
typealias AttendanceWriter = BatchWriter<AttendanceReports>

extension BatchWriter<AttendanceReports> {
    /// - Parameter written: Called when there may be something for those who are told.
    init(store: DeliveryStore, log: Log, written: @escaping @Sendable () -> Void) {
        self.init(
            AttendanceReports(store: store, log: log, written: written),
            limits: BatchLimits(itemsPerBatch: 500, waitingItems: 50_000))
    }

    /// The same as ``add(_:)``, for who can't wait.
    nonisolated var hear: @Sendable ([PresenceEvent]) -> Void {
        { events in Task { await self.add(events) } }
    }
}

/// The database, for a ``BatchWriter``. A report that may have been written is sent again, and written once by its number.
struct AttendanceReports: BatchDestination {
    let store: DeliveryStore
    let log: Log
    let written: @Sendable () -> Void
    /// Of this life of the daemon.
    let id = UUID()

    func write(_ report: BatchQueue<PresenceEvent>.Batch) async -> BatchOutcome {
        do {
            try await store.report(report.items, by: id, number: report.number, at: .now())
            written()
            return .written
        } catch {
            return BatchOutcome(error, isDivisible: false)
        }
    }

    func dropped(_ events: [PresenceEvent], _ error: (any Error)?) {
        if let error {
            log.error(
                "who came and went can't be written",
                ["count": .int(events.count), "error": .string("\(error)")])
        } else {
            log.error("who came and went is lost: too much waits", ["count": .int(events.count)])
        }
    }
}
