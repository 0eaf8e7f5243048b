/// The waits between failed attempts. Each wait is shortened by a random part, so that clients that lost a server at
/// the same time don't all return at the same time. This value has no clock: the caller passes random numbers.
package struct Backoff: Sendable, Hashable {
    private enum Waits: Hashable {
        case doubling(from: Duration, upTo: Duration)
        /// Fixed waits. The last one is used for all further attempts.
        case steps([Duration])
    }

    private let waits: Waits
    /// The largest part of a wait by which the wait is shortened at random, from 0 to 1.
    private let jitter: Double
    /// The number of failed attempts since the last success. Only ``next(random:)`` counts them.
    package private(set) var failures = 0

    /// Doubles the wait from a minimum to a maximum.
    package init(minimum: Duration, maximum: Duration, jitter: Double = 0.5) {
        waits = .doubling(from: minimum, upTo: maximum)
        self.jitter = jitter
    }

    /// Uses these waits in order. The last one is used for all further attempts.
    package init(steps: [Duration], jitter: Double) {
        waits = .steps(steps)
        self.jitter = jitter
    }

    /// Returns the wait after `attempt` failed attempts. `attempt` is at least 1, and `random` is in 0..<1.
    package func delay(afterAttempt attempt: Int, random: Double) -> Duration {
        wait(afterAttempt: max(1, attempt)) * (1 - jitter * random)
    }

    /// Counts a failure and returns the wait after it. `random` is in 0..<1.
    package mutating func next(random: Double) -> Duration {
        failures += 1
        return delay(afterAttempt: failures, random: random)
    }

    /// Resets the count of failures after a success.
    package mutating func reset() {
        failures = 0
    }

    private func wait(afterAttempt attempt: Int) -> Duration {
        switch waits {
        case .doubling(let minimum, let maximum):
            // After 62 doublings the wait reaches the maximum anyway. The bound of 62 avoids an overflow.
            let factor = 1 << min(attempt - 1, 62)
            return minimum > maximum / factor ? maximum : minimum * factor
        case .steps(let steps):
            return attempt <= steps.count ? steps[attempt - 1] : steps.last ?? .zero
        }
    }
}
