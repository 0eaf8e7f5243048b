import Glibc

/// An instant of the monotonic clock, in nanoseconds since an arbitrary start. The clock never jumps and isn't related
/// to the time of day.
package struct MonotonicTime: Sendable, Comparable, Hashable {
    package let nanoseconds: UInt64

    package init(nanoseconds: UInt64) {
        self.nanoseconds = nanoseconds
    }

    /// An instant after all others.
    package static var distantFuture: MonotonicTime { MonotonicTime(nanoseconds: .max) }

    /// Returns the current instant.
    package static func now() -> MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec))
    }

    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Returns the instant that is `duration` later, at most ``distantFuture``. A negative duration counts as zero.
    package static func + (instant: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        return overflow ? .distantFuture : MonotonicTime(nanoseconds: sum)
    }

    /// Returns the time from `earlier` to `later`. The result is negative if `later` is before `earlier`.
    package static func - (later: MonotonicTime, earlier: MonotonicTime) -> Duration {
        later >= earlier
            ? .nanoseconds(Int64(clamping: later.nanoseconds - earlier.nanoseconds))
            : .zero - .nanoseconds(Int64(clamping: earlier.nanoseconds - later.nanoseconds))
    }
}
