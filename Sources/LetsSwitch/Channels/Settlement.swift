/// What is done about a delivery after an attempt. A value: time and chance are arguments.
enum Settlement: Sendable, Hashable {
    /// It is done with, and the reminder delivered.
    case accepted
    /// It is done with, and was in vain.
    case dropped(DeliveryResult)
    /// The address is forgotten too.
    case gone
    /// Again after this wait; the attempt counts, or not.
    case again(after: Duration, counts: Bool)

    /// A server that says "at once" isn't taken at its word.
    static let shortestWait = Duration.seconds(1)

    /// - Parameters:
    ///   - age: Since the delivery was leased.
    ///   - random: In 0..<1.
    init(of delivery: Delivery, _ outcome: DeliveryOutcome, age: Duration, random: Double) {
        let left = Duration.seconds(delivery.timeLeft) - age
        switch outcome {
        case .accepted: self = .accepted
        case .gone: self = .gone
        case .refused: self = .dropped(.refused)
        case .paused(let pause, _):
            self = left > pause ? .again(after: pause, counts: false) : .dropped(.expired)
        case .retry(let asked?, _):
            let wait = max(asked, Self.shortestWait)
            self = left > wait ? .again(after: wait, counts: true) : .dropped(.expired)
        case .retry(nil, _):
            // Rather once more before it is too late than when it is.
            let wait = min(BackOff.of(delivery).delay(afterAttempt: delivery.attempt, random: random), left / 2)
            self = wait > .milliseconds(100) ? .again(after: wait, counts: true) : .dropped(.expired)
        }
    }

    var result: DeliveryResult {
        switch self {
        case .accepted: .accepted
        case .dropped(let result): result
        case .gone: .gone
        case .again(_, counts: true): .retried
        case .again(_, counts: false): .paused
        }
    }
}
