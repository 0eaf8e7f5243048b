import Foundation

/// The ledger of a run, shared by many clients.
actor TortureRecord {
    private(set) var ledger = TaskLedger()
    private(set) var tally = Tally()

    /// The counts of a run, for its summary.
    struct Tally: Sendable {
        var registered = 0
        var paired = 0
        var cancelled = 0
        var refused = 0
        var unanswered = 0
        var streams = 0

        /// The number of conclusive answers.
        var answered: Int { registered + cancelled + refused }
    }

    func note(_ key: TaskLedger.Key, _ change: @Sendable (inout TaskHistory) -> Void) {
        ledger.note(key, change)
    }

    func count(_ change: @Sendable (inout Tally) -> Void) { change(&tally) }

    func object(_ text: String) { ledger.object(text) }

    func received(_ receipt: TaskLedger.Receipt, by device: String) { ledger.received(receipt, by: device) }

    func databaseDies() { ledger.databaseDies() }
    func databaseDied() { ledger.databaseDied() }
}
