import Scheduling

/// Which reminders one stream has sent, by their place in firing order. A value: one number, and what came before its turn.
///
/// A device's reminders come in that order, but for those of a claim that became known before an older one of another daemon
/// (``BatchOrder``), and those that come twice: with the backlog and as they fire.
struct SeenReminders {
    /// Reminders that may have come before their turn. A reader that has more of them comes again.
    static let earlyLimit = 1024

    enum Verdict: Equatable {
        /// It was sent before.
        case seen
        case inOrder
        /// Something before it may be yet to come: it must not stand for all before it.
        case early
        /// Too many are early.
        case overflow
    }

    /// This one, and all before it that concern the stream, were sent.
    private(set) var through: Int
    /// Those after it that were sent; the least first.
    private var early: [Int] = []

    /// - Parameter through: The last in firing order of the backlog, which lacks nothing before it; 0 without any.
    init(through: Int = 0) {
        self.through = through
    }

    /// All claims up to the batch are settled: what they wrote was sent, or isn't the stream's.
    mutating func settle(batch: Int) {
        through = max(through, Reminder.lastSeq(of: batch))
        if let first = early.first, first <= through { early.removeAll { $0 <= through } }
    }

    var hasEarly: Bool { !early.isEmpty }

    /// Whether to send the reminder.
    ///
    /// - Parameter batch: Of this batch and all before it everything was sent.
    mutating func take(_ seq: Int, settled batch: Int) -> Verdict {
        settle(batch: batch)
        guard seq > through else { return .seen }
        if Reminder.batch(of: seq) - 1 <= Reminder.batch(of: through) {
            let wasEarly = early.first == seq
            through = seq
            if wasEarly { early.removeFirst() }
            return wasEarly ? .seen : .inOrder
        }
        let place = early.firstIndex { $0 >= seq } ?? early.endIndex
        if place < early.endIndex, early[place] == seq { return .seen }
        guard early.count < Self.earlyLimit else { return .overflow }
        early.insert(seq, at: place)
        return .early
    }
}

extension Reminder {
    /// Of the twelve bits of place that follow the batch.
    private static let places = 12

    /// The claim that wrote the reminder at this place in firing order.
    static func batch(of seq: Int) -> Int { seq >> places }

    /// After all places of a batch. Batches come from the database: an absurd one is no reason to trap.
    static func lastSeq(of batch: Int) -> Int {
        batch > 0 ? min(batch, Int.max >> places) << places | (1 << places - 1) : 0
    }
}
