import Basics
import Domain

/// Decides what happens to a delivery after an attempt. A value type: time and random numbers are arguments.
enum RetryDecision: Sendable, Hashable {
    /// The delivery is finished: it was accepted.
    case accepted
    /// The delivery is finished without success.
    case dropped(DeliveryMetrics.Outcome)
    /// The delivery is finished, and the address is removed.
    case gone
    /// The delivery is tried again after this wait. `counts` says whether this attempt counts.
    case again(after: Duration, counts: Bool)

    /// The minimum wait, even if a server asks for less.
    static let shortestWait = Duration.seconds(1)
    /// The maximum random part, relative to the wait that a server asks for. A random part is added because the server
    /// may ask many clients for the same wait.
    static let spread = 0.2
    /// The minimum wait before another attempt. If less time is left, the delivery expires.
    private static let leastWait = Duration.milliseconds(100)

    /// - Parameters:
    ///   - delivery: The delivery, with its times at the beginning of the attempt.
    ///   - age: The time since the beginning of the attempt.
    ///   - random: A random number in 0..<1.
    init(of delivery: Delivery, _ outcome: AttemptOutcome, age: Duration, random: Double) {
        let left = Duration.seconds(saturating: delivery.timeLeft) - age
        switch outcome {
        case .accepted: self = .accepted
        case .gone: self = .gone
        case .refused: self = .dropped(.refused)
        case .paused(let pause, _):
            self = left > pause ? .again(after: pause, counts: false) : .dropped(.expired)
        case .retry(let asked, _):
            var wait = Backoff.of(delivery).delay(afterAttempt: delivery.attempt, random: random)
            // A reminder waits at most half of the remaining time, so that another attempt comes before the deadline.
            // Events have hours, so they don't need this.
            if delivery.isUrgent { wait = min(wait, left / 2) }
            if let asked = asked.map({ max($0, Self.shortestWait) }) {
                wait = max(wait, asked + min(asked * Self.spread, max(.zero, left - asked) / 2) * random)
            }
            self = wait > Self.leastWait && wait < left ? .again(after: wait, counts: true) : .dropped(.expired)
        }
    }

    /// The outcome for metrics and the log.
    var outcome: DeliveryMetrics.Outcome {
        switch self {
        case .accepted: .accepted
        case .dropped(let outcome): outcome
        case .gone: .gone
        case .again(_, counts: true): .retried
        case .again(_, counts: false): .paused
        }
    }
}

extension Backoff {
    /// The waits for reminders, which are useful for only a minute.
    static let reminder = Backoff(steps: [0.5, 1, 2, 4, 8, 15, 30].map { .seconds($0) }, jitter: 0.5)

    /// The waits for other deliveries. Attempts come 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 hours after the first
    /// one, as Standard Webhooks proposes.
    static let event = Backoff(
        steps: [5, 295, 1500, 5400, 10_800, 18_000, 14_400, 21_600, 14_400].map { .seconds($0) }, jitter: 0.1)

    static func of(_ delivery: Delivery) -> Backoff {
        delivery.isUrgent ? reminder : event
    }
}
