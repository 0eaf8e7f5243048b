/// What the broker has confirmed of the messages that were published together.
struct PublisherConfirms {
    enum Outcome: Equatable {
        case pending
        case confirmed
        /// So many of them the broker won't keep.
        case rejected(Int)
    }

    /// The broker numbers messages from 1 on.
    private var lastTag: UInt64 = 0
    private var outstanding: Set<UInt64> = []
    private var rejected = 0

    /// What was published before doesn't matter any more.
    mutating func begin() {
        outstanding.removeAll(keepingCapacity: true)
        rejected = 0
    }

    mutating func published() {
        lastTag += 1
        outstanding.insert(lastTag)
    }

    /// - Parameter multiple: Also all with lower tags.
    mutating func answer(_ tag: UInt64, multiple: Bool, isConfirmed: Bool) {
        let answered = multiple ? outstanding.filter { $0 <= tag } : outstanding.intersection([tag])
        outstanding.subtract(answered)
        if !isConfirmed { rejected += answered.count }
    }

    var outcome: Outcome {
        guard outstanding.isEmpty else { return .pending }
        return rejected == 0 ? .confirmed : .rejected(rejected)
    }
}
