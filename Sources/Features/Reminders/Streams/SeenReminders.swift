/// The reminders that one stream has sent, by their position in firing order. A value: one number, and the early ones.
///
/// A device's reminders arrive in that order, with two exceptions: a claim may become known before an older one of
/// another daemon (``BatchOrder``), and a reminder may come both in the backlog and when it fires.
struct SeenReminders {
    /// The maximum number of early reminders. A reader with more must reconnect.
    static let earlyLimit = 1024

    enum Verdict: Equatable {
        /// It was sent before.
        case seen
        case inOrder
        /// An earlier one may follow, so the position must not move to this one.
        case early
        /// Too many reminders are early.
        case overflow
    }

    /// This one, and all earlier ones of the stream, were sent.
    private(set) var through: Int
    /// The later ones that were sent, in order.
    private var early: [Int] = []

    /// - Parameter through: The position of the backlog's last reminder, before which nothing is missing; 0 without
    ///   any.
    init(through: Int = 0) {
        self.through = through
    }

    /// Records that all claims up to the batch are settled: their reminders were sent, or are not for this stream.
    mutating func settle(batch: Int) {
        through = max(through, Reminder.lastSeq(of: batch))
        if let first = early.first, first <= through { early.removeAll { $0 <= through } }
    }

    var hasEarly: Bool { !early.isEmpty }

    /// Returns whether to send the reminder.
    ///
    /// - Parameter batch: Everything of this batch and all earlier ones was sent.
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
    /// The twelve bits of the position within a batch.
    private static let places = 12

    /// Returns the claim that wrote the reminder at this position.
    static func batch(of seq: Int) -> Int { seq >> places }

    /// Returns the position after all of a batch. Batches come from the database, so an absurd number must not trap.
    static func lastSeq(of batch: Int) -> Int {
        batch > 0 ? min(batch, Int.max >> places) << places | (1 << places - 1) : 0
    }
}
