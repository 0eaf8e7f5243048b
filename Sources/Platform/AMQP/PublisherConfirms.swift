/// The broker's confirmations of messages that were published together.
struct PublisherConfirms {
    enum Outcome: Equatable {
        case pending
        case confirmed
        /// The broker refused the messages with these indices, counted from 0.
        case rejected([Int])
    }

    /// The number of the last published message. The broker numbers messages from 1.
    private var lastTag: UInt64 = 0
    private var outstanding: Set<UInt64> = []
    private var rejected: [Int] = []
    /// The number of the first message of the present group.
    private var firstTag: UInt64 = 1

    /// Begins a new group of messages.
    mutating func begin() {
        outstanding.removeAll(keepingCapacity: true)
        rejected.removeAll(keepingCapacity: true)
        firstTag = lastTag + 1
    }

    mutating func published() {
        lastTag += 1
        outstanding.insert(lastTag)
    }

    /// - Parameter multiple: Whether the broker's answer includes all lower numbers.
    mutating func answer(_ tag: UInt64, multiple: Bool, isConfirmed: Bool) {
        let answered = multiple ? outstanding.filter { $0 <= tag } : outstanding.intersection([tag])
        outstanding.subtract(answered)
        if !isConfirmed { rejected += answered.map { Int($0 - firstTag) } }
    }

    var outcome: Outcome {
        guard outstanding.isEmpty else { return .pending }
        return rejected.isEmpty ? .confirmed : .rejected(rejected.sorted())
    }
}
