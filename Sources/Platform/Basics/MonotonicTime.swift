import Glibc

/// An instant of the monotonic clock, in nanoseconds since an arbitrary start. It never steps; it says nothing about
/// the time of day.
package struct MonotonicTime: Sendable, Comparable, Hashable {
    package let nanoseconds: UInt64

    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// Later than every instant that occurs.
    package static var distantFuture: MonotonicTime { MonotonicTime(nanoseconds: .max) }

    /// The clock's reading now.
    package static func now() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The instant `duration` later; a negative duration counts as zero, and the sum stops at ``distantFuture``.
    package static func + (instant: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        return overflow ? .distantFuture : MonotonicTime(nanoseconds: sum)
    }

    /// The time from `earlier` to `later`; negative when they are the other way round.
    package static func - (later: MonotonicTime, earlier: MonotonicTime) -> Duration {
        later >= earlier
            ? .nanoseconds(Int64(clamping: later.nanoseconds - earlier.nanoseconds))
            : .zero - .nanoseconds(Int64(clamping: earlier.nanoseconds - later.nanoseconds))
    }
}
