import Foundation

/// The ledger of a rematch run, shared by many clients, and the run's current minute.
actor RematchRecord {
    private(set) var ledger = RematchLedger()
    private(set) var tally: [String: Int] = [:]
    private(set) var minute = 0

    /// The number of conclusive answers.
    var answered: Int { tally.values.reduce(0, +) - (tally["lost", default: 0]) }

    func note(_ outcome: String? = nil, _ change: @Sendable (inout RematchLedger) -> Void) {
        if let outcome { tally[outcome, default: 0] += 1 }
        change(&ledger)
    }

    func change<Answer: Sendable>(_ change: @Sendable (inout RematchLedger) -> Answer) -> Answer { change(&ledger) }

    func begin() -> Int { ledger.invitations.begin() }

    private var guests = 0

    /// Waits a moment for a second guest, so that both accept at once.
    func meetGuest() async {
        guests += 1
        let number = guests
        guard !number.isMultiple(of: 2) else { return }
        for _ in 0..<20 where guests == number { try? await Task.sleep(for: .milliseconds(1)) }
    }

    func nextMinute() { minute += 1 }
}
