/// Records which reminders a stream has sent, by their position in claim order. A value type: one position, and the
/// positions of early reminders.
///
/// A device's reminders arrive in claim order, with two exceptions. A claim may become known before an older claim of
/// another daemon (``BatchOrder``). A reminder may come both in the backlog and when it fires.
struct SeenReminders {
    /// The maximum number of early reminders. If there are more, the reader must reconnect.
    static let earlyLimit = 1024

    enum Verdict: Equatable {
        /// The reminder was sent before.
        case seen
        case inOrder
        /// An earlier reminder may follow, so the position must not move to this one.
        case early
        /// There are too many early reminders.
        case overflow
    }

    /// All of the stream's reminders up to this position were sent.
    private(set) var through: Int
    /// The positions of the sent reminders after ``through``, in order.
    private var early: [Int] = []

    /// - Parameter through: The position of the backlog's last reminder, or 0 if there is none. No reminder before it
    ///   is missing.
    init(through: Int = 0) {
        self.through = through
    }

    /// Records that all batches up to this one are settled: their reminders were sent, or aren't for this stream.
    mutating func settle(batch: Int) {
        through = max(through, Reminder.lastSeq(of: batch))
        if let first = early.first, first <= through { early.removeAll { $0 <= through } }
    }

    var hasEarly: Bool { !early.isEmpty }

    /// Decides whether to send the reminder, and records it.
    ///
    /// - Parameter batch: All reminders up to this batch were sent.
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
    /// The number of low bits of a position that hold the place within a batch.
    private static let places = 12

    /// Returns the batch of the reminder at this position.
    static func batch(of seq: Int) -> Int { seq >> places }

    /// Returns the last position of a batch. The number of the batch comes from the database, so an invalid number must
    /// not trap.
    static func lastSeq(of batch: Int) -> Int {
        batch > 0 ? min(batch, Int.max >> places) << places | (1 << places - 1) : 0
    }
}
