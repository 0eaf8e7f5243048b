/// Limits a provider's attempts in flight. Deliveries that aren't urgent may use half of them, so that reminders always
/// find a free one. A value.
struct AttemptLimiter {
    let count: Int
    private var urgent = 0
    private var others = 0

    /// - Parameter count: At least one. A single one is shared by all.
    init(count: Int) {
        self.count = max(1, count)
    }

    var taken: Int { urgent + others }

    static func forOthers(of count: Int) -> Int { max(1, count / 2) }

    /// Whether one more attempt may begin.
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

/// The two kinds of deliveries, which are leased separately. Slow or failing ones of the second kind never delay
/// reminders.
enum DeliveryKind: Sendable, Hashable, CaseIterable {
    case reminders
    case others
}

/// The numbers of reminders and of other deliveries to lease. A value.
package struct LeaseLimits: Sendable, Hashable {
    let urgent: Int
    let others: Int

    /// The maximum number of deliveries per statement.
    package static let perStatement = 500
    /// The maximum number of leased deliveries of each kind, unless a provider has more in flight.
    private static let most = 4000

    /// - Parameters:
    ///   - urgent: The number of urgent deliveries that are leased.
    ///   - others: The number of other deliveries that are leased.
    ///   - concurrency: The maximum number of attempts in flight.
    ///   - batch: The number of deliveries per attempt.
    init(inHand urgent: Int, others: Int, concurrency: Int, batch: Int) {
        let limit = max(2 * concurrency, min(2 * concurrency * batch, Self.most))
        func room(beside count: Int) -> Int {
            // Leases several deliveries together, instead of one whenever a place is free.
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
