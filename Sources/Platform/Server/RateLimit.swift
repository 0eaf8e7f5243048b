package import Basics

/// A rate of events with a burst: a token bucket, stored as one instant per client (the generic cell rate algorithm).
///
/// ```
///        paid until                            paid until, after one more event
///  ──────────┼───────────now─────────────────────────┼──────────► time
///            └─ at most here when idle               └─ admitted if at most a burst ahead of now
/// ```
///
/// Each event pays for its share of a second, and payments may be at most a burst ahead of now. An unused bucket
/// refills by itself. A full bucket equals no bucket, so it may be dropped.
package struct RateLimit: Sendable, Hashable {
    /// The time that one event pays for, in nanoseconds.
    private let interval: UInt64
    /// How far ahead of now payments may be, in nanoseconds.
    private let tolerance: UInt64

    /// - Parameters:
    /// - rate: Events per second in the long run; 0 sets no limit.
    /// - burst: Events at once after a pause; at least one.
    package init(perSecond rate: Int, burst: Int) {
        guard rate > 0 else {
            (interval, tolerance) = (0, .max)
            return
        }
        interval = max(1, 1_000_000_000 / UInt64(rate))
        tolerance = interval.multipliedReportingOverflow(by: UInt64(max(1, burst))).partialValue
    }

    /// - Parameter count: Events per day, evenly spread or at once; 0 sets no limit.
    package init(perDay count: Int) { self.init(count, in: 86_400_000_000_000) }

    /// - Parameter count: Events per hour, evenly spread or at once; 0 sets no limit.
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

    /// Returns the seconds after which `count` more events are admitted if the limit is used up, rounded up.
    func seconds(for count: Int) -> Int { Int((cost(of: count) + 999_999_999) / 1_000_000_000) }

    /// In nanoseconds. More than a burst costs exactly a burst; otherwise it would be refused for ever.
    func cost(of count: Int) -> UInt64 { min(interval &* UInt64(max(1, count)), tolerance) }

    /// Returns the rate and burst of `count` clients together; at least one.
    package func times(_ count: Int) -> RateLimit {
        guard interval > 0 else { return self }
        // Only the interval is divided. The burst stays the same.
        return RateLimit(interval: max(1, interval / UInt64(max(1, count))), tolerance: tolerance)
    }

    /// Admits `count` more events at `now`, or none.
    ///
    /// - Parameters:
    /// - paidUntil: In nanoseconds of the monotonic clock; 0 for a new client.
    /// - count: A small number. More than a burst is admitted to a client with a full bucket.
    /// - Returns: The new value of `paidUntil`; `nil` if the events are refused.
    package func paying(_ paidUntil: UInt64, times count: Int = 1, at now: MonotonicTime) -> UInt64? {
        let paid = max(paidUntil, now.nanoseconds) &+ cost(of: count)
        return paid &- now.nanoseconds <= tolerance ? paid : nil
    }
}
