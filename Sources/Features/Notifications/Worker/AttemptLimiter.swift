/// Limits a provider's attempts in flight. Other deliveries may use half of the attempts, so that urgent ones always
/// find a free attempt. A value type.
struct AttemptLimiter {
    let count: Int
    private var urgent = 0
    private var others = 0

    /// - Parameter count: The maximum number of attempts, at least one. A single attempt is shared by both kinds.
    init(count: Int) {
        self.count = max(1, count)
    }

    var taken: Int { urgent + others }

    static func forOthers(of count: Int) -> Int { max(1, count / 2) }

    /// Returns whether one more attempt may begin.
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

/// The two kinds of deliveries. They are leased separately, so that slow or failing deliveries of the second kind never
/// delay reminders.
enum DeliveryKind: Sendable, Hashable, CaseIterable {
    case reminders
    case others
}

/// The numbers of reminders and of other deliveries to lease. A value type.
package struct LeaseLimits: Sendable, Hashable {
    let urgent: Int
    let others: Int

    /// The maximum number of deliveries per statement.
    package static let perStatement = 500
    /// The maximum number of leased deliveries of each kind. A provider with many attempts in flight may have more.
    private static let most = 4000

    /// - Parameters:
    ///   - urgent: The number of urgent deliveries that are leased.
    ///   - others: The number of other deliveries that are leased.
    ///   - concurrency: The maximum number of attempts in flight.
    ///   - batch: The number of deliveries per attempt.
    init(inHand urgent: Int, others: Int, concurrency: Int, batch: Int) {
        let limit = max(2 * concurrency, min(2 * concurrency * batch, Self.most))
        func room(beside count: Int) -> Int {
            // Leases wait until half of the limit is free, so that one statement leases several deliveries.
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
