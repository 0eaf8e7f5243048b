package import Basics

/// So many events a second, and a burst beyond: a token bucket kept as one instant for each who is limited (the generic
/// cell rate algorithm).
///
/// ```
///        paid until                            paid until, after one more event
///  ──────────┼───────────now─────────────────────────┼──────────► time
///            └─ at most here when idle               └─ admitted if not more than a burst ahead of now
/// ```
/// Each event pays for its share of a second; nobody may have paid for more than a burst ahead. A bucket that nobody
/// touches refills by itself, and one that is full is the same as none: it may be forgotten.
package struct RateLimit: Sendable, Hashable {
    /// What one event pays for, in nanoseconds.
    private let interval: UInt64
    /// How far ahead of now may be paid, in nanoseconds.
    private let tolerance: UInt64

    /// - Parameters:
    ///   - rate: Events a second, in the long run; 0 sets no limit.
    ///   - burst: Events at once, after a pause; at least one.
    package init(perSecond rate: Int, burst: Int) {
        guard rate > 0 else {
            (interval, tolerance) = (0, .max)
            return
        }
        interval = max(1, 1_000_000_000 / UInt64(rate))
        tolerance = interval.multipliedReportingOverflow(by: UInt64(max(1, burst))).partialValue
    }

    /// - Parameter count: Events a day, evenly spread or all at once; 0 sets no limit.
    package init(perDay count: Int) { self.init(count, in: 86_400_000_000_000) }

    /// - Parameter count: Events an hour, the same.
    package init(perHour count: Int) { self.init(count, in: 3_600_000_000_000) }

    private init(_ count: Int, in nanoseconds: UInt64) {
        guard count > 0 else {
            self = .none
            return
        }
        self.init(interval: max(1, nanoseconds / UInt64(count)), tolerance: nanoseconds)
    }

    private init(interval: UInt64, tolerance: UInt64) {
        self.interval = interval
        self.tolerance = tolerance
    }

    package static var none: RateLimit { RateLimit(perSecond: 0, burst: 0) }

    /// After how many seconds `count` more are admitted to who has used it up, rounded up.
    func seconds(for count: Int) -> Int { Int((cost(of: count) + 999_999_999) / 1_000_000_000) }

    /// In nanoseconds. What is more than a burst costs all of it: else it would be refused for ever, to who waits too.
    private func cost(of count: Int) -> UInt64 { min(interval &* UInt64(max(1, count)), tolerance) }

    /// The rate and the burst of `count` who have this limit, at least one, together.
    package func times(_ count: Int) -> RateLimit {
        guard interval > 0 else { return self }
        // As far ahead of now, with shorter intervals.
        return RateLimit(interval: max(1, interval / UInt64(max(1, count))), tolerance: tolerance)
    }

    /// Admits `count` more events at `now`, or none.
    ///
    /// - Parameters:
    ///   - paidUntil: In nanoseconds of the monotonic clock, 0 for who comes for the first time.
    ///   - count: A small number. More than a burst are admitted to who has all of it left.
    /// - Returns: What `paidUntil` is from now on; `nil` when that is too much.
    package func paying(_ paidUntil: UInt64, times count: Int = 1, at now: MonotonicTime) -> UInt64? {
        let paid = max(paidUntil, now.nanoseconds) &+ cost(of: count)
        return paid &- now.nanoseconds <= tolerance ? paid : nil
    }
}
