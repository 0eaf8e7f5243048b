/// How long to wait before the next attempt. A part of each wait is left to chance, so that clients that lost a server together
/// don't come back together. A value: time and chance are arguments.
package struct Backoff: Sendable, Hashable {
    private enum Waits: Hashable {
        case doubling(from: Duration, upTo: Duration)
        /// The last for all further attempts.
        case steps([Duration])
    }

    private let waits: Waits
    /// The part of a wait that chance may leave off, from 0 to 1.
    private let jitter: Double
    /// Attempts that have failed since the last success, for who counts by ``next(random:)``.
    package private(set) var failures = 0

    /// Doubles from a minimum to a maximum.
    package init(minimum: Duration, maximum: Duration, jitter: Double = 0.5) {
        waits = .doubling(from: minimum, upTo: maximum)
        self.jitter = jitter
    }

    /// The waits after the first attempt, the second, …; the last for all further ones.
    package init(steps: [Duration], jitter: Double) {
        waits = .steps(steps)
        self.jitter = jitter
    }

    /// The wait after this many attempts, one at least. `random` is in 0..<1.
    package func delay(afterAttempt attempt: Int, random: Double) -> Duration {
        wait(afterAttempt: max(1, attempt)) * (1 - jitter * random)
    }

    /// The wait after one more failure. `random` is in 0..<1.
    package mutating func next(random: Double) -> Duration {
        failures += 1
        return delay(afterAttempt: failures, random: random)
    }

    /// An attempt has succeeded.
    package mutating func reset() {
        failures = 0
    }

    private func wait(afterAttempt attempt: Int) -> Duration {
        switch waits {
        case .doubling(let minimum, let maximum):
            // Beyond 62 doublings it is the maximum anyway; and no product is made that is too large for a duration.
            let factor = 1 << min(attempt - 1, 62)
            return minimum > maximum / factor ? maximum : minimum * factor
        case .steps(let steps):
            return attempt <= steps.count ? steps[attempt - 1] : steps.last ?? .zero
        }
    }
}
