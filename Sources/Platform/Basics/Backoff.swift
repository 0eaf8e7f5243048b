/// The waits between failed attempts. A random part of each wait is left off, so that clients that lost a server
/// together don't all come back together. A value: time and random numbers are arguments.
package struct Backoff: Sendable, Hashable {
    private enum Waits: Hashable {
        case doubling(from: Duration, upTo: Duration)
        /// The last wait is used for all further attempts.
        case steps([Duration])
    }

    private let waits: Waits
    /// The largest part of a wait that is left off at random, from 0 to 1.
    private let jitter: Double
    /// The number of failed attempts since the last success, if the caller uses ``next(random:)``.
    package private(set) var failures = 0

    /// Doubles the wait from a minimum to a maximum.
    package init(minimum: Duration, maximum: Duration, jitter: Double = 0.5) {
        waits = .doubling(from: minimum, upTo: maximum)
        self.jitter = jitter
    }

    /// Uses these waits in order; the last one for all further attempts.
    package init(steps: [Duration], jitter: Double) {
        waits = .steps(steps)
        self.jitter = jitter
    }

    /// Returns the wait after this many attempts, at least one. `random` is in 0..<1.
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
            // After 62 doublings every wait is the maximum. More would overflow a duration.
            let factor = 1 << min(attempt - 1, 62)
            return minimum > maximum / factor ? maximum : minimum * factor
        case .steps(let steps):
            return attempt <= steps.count ? steps[attempt - 1] : steps.last ?? .zero
        }
    }
}
