/// How many attempts of a provider may be under way at once, and who may take the places: what isn't urgent has half of them at
/// most, so that reminders find one whatever hangs. A value.
struct AttemptLimiter {
    let count: Int
    private var urgent = 0
    private var others = 0

    /// - Parameter count: One at least. A single place is everybody's.
    init(count: Int) {
        self.count = max(1, count)
    }

    var taken: Int { urgent + others }

    static func forOthers(of count: Int) -> Int { max(1, count / 2) }

    /// Whether one more may begin.
    func admits(isUrgent: Bool) -> Bool {
        taken < count && (isUrgent || others < Self.forOthers(of: count))
    }

    mutating func begin(isUrgent: Bool) {
        if isUrgent { urgent += 1 } else { others += 1 }
    }

    mutating func end(isUrgent: Bool) {
        if isUrgent { urgent -= 1 } else { others -= 1 }
    }
}

/// What is leased apart from the other: what is slow or fails of what isn't urgent keeps no reminder from its minute.
enum DeliveryKind: Sendable, Hashable, CaseIterable {
    case reminders
    case others
}

/// How many deliveries to lease: reminders, and what isn't urgent, which never keeps those out. A value.
package struct LeaseLimits: Sendable, Hashable {
    let urgent: Int
    let others: Int

    /// Deliveries in one statement.
    package static let perStatement = 500
    /// Of either kind in hand at once, but for providers that have more under way.
    private static let most = 4000

    /// - Parameters:
    ///   - urgent: In hand now, and so the others.
    ///   - concurrency: Attempts that may be under way.
    ///   - batch: Deliveries of one attempt.
    init(inHand urgent: Int, others: Int, concurrency: Int, batch: Int) {
        let limit = max(2 * concurrency, min(2 * concurrency * batch, Self.most))
        func room(beside count: Int) -> Int {
            // Not each time that one place gets free.
            let room = limit - count
            return 2 * room >= limit ? min(room, Self.perStatement) : 0
        }
        self.urgent = room(beside: urgent)
        self.others = room(beside: others)
    }

    init(urgent: Int, others: Int) {
        (self.urgent, self.others) = (urgent, others)
    }

    subscript(kind: DeliveryKind) -> Int {
        switch kind {
        case .reminders: urgent
        case .others: others
        }
    }
}
