package import Basics

/// A rate of events with a burst: a token bucket, stored as one instant per client (the generic cell rate algorithm).
///
/// ```
///        paid until                            paid until, after one more event
///  ──────────┼───────────now─────────────────────────┼──────────► time
///            └─ at most here when idle               └─ admitted if at most a burst ahead of now
/// ```
///
/// Each event pays for its share of a second. The time that is paid for may be at most a burst ahead of now. An unused
/// bucket fills up by itself. A full bucket is the same as no bucket, so it can be dropped.
package struct RateLimit: Sendable, Hashable {
    /// The time that one event pays for, in nanoseconds.
    private let interval: UInt64
    /// The maximum time that may be paid in advance, in nanoseconds.
    private let tolerance: UInt64

    /// - Parameters:
    ///   - rate: The number of events per second on average; 0 sets no limit.
    ///   - burst: The number of events that are admitted at once after a pause; at least one.
    package init(perSecond rate: Int, burst: Int) {
        guard rate > 0 else {
            (interval, tolerance) = (0, .max)
            return
        }
        interval = max(1, 1_000_000_000 / UInt64(rate))
        tolerance = interval.multipliedReportingOverflow(by: UInt64(max(1, burst))).partialValue
    }

    /// - Parameter count: The number of events per day. They may come evenly or all at once. 0 sets no limit.
    package init(perDay count: Int) { self.init(count, in: 86_400_000_000_000) }

    /// - Parameter count: The number of events per hour. They may come evenly or all at once. 0 sets no limit.
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

    /// Returns the seconds, rounded up, after which `count` more events are admitted if the limit is used up now.
    func seconds(for count: Int) -> Int { Int((cost(of: count) + 999_999_999) / 1_000_000_000) }

    /// The cost of events in nanoseconds. More than a burst costs exactly a burst, because otherwise it would never be
    /// admitted.
    func cost(of count: Int) -> UInt64 { min(interval &* UInt64(max(1, count)), tolerance) }

    /// Returns the rate and the burst that `count` clients have together. `count` is at least one.
    package func times(_ count: Int) -> RateLimit {
        guard interval > 0 else { return self }
        // Only the interval is divided. The tolerance stays the same, so the burst is multiplied.
        return RateLimit(interval: max(1, interval / UInt64(max(1, count))), tolerance: tolerance)
    }

    /// Admits all `count` events at `now`, or none of them.
    ///
    /// - Parameters:
    ///   - paidUntil: The time that is paid for, in nanoseconds of the monotonic clock; 0 for a new client.
    ///   - count: A small number. If it is more than a burst, it is admitted only if the bucket is full.
    /// - Returns: The new value of `paidUntil`, or `nil` if the events are refused.
    package func paying(_ paidUntil: UInt64, times count: Int = 1, at now: MonotonicTime) -> UInt64? {
        let paid = max(paidUntil, now.nanoseconds) &+ cost(of: count)
        return paid &- now.nanoseconds <= tolerance ? paid : nil
    }
}
