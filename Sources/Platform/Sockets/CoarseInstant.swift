import Basics

/// An instant in steps of 50 ms, in four bytes: each socket has two, and one in its loop's queue.
///
/// Deadlines of sockets are seconds away, and most have been moved by the time they come. Those that pass within a step wake the loop once:
/// one by one, ten thousand connections that had come lately cost as much again as a tenth of what they were sent.
///
/// The steps are counted round and round, as TCP counts bytes (RFC 9293 §3.4): two instants can be compared that are less than three years
/// apart.
struct CoarseInstant: Hashable, Sendable {
    /// In nanoseconds.
    static let step: UInt64 = 50_000_000
    /// Later than every other one.
    static let never = CoarseInstant(steps: .max)
    /// In nanoseconds: what is further away is as good as never.
    static let horizon = step << 30

    private let steps: UInt32

    private init(steps: UInt32) {
        self.steps = steps
    }

    /// The first that isn't before `instant`; ``never`` beyond the ``horizon``.
    @inline(__always)
    init(notBefore instant: MonotonicTime, at now: MonotonicTime) {
        guard instant.nanoseconds < now.nanoseconds &+ Self.horizon else {
            self = .never
            return
        }
        let steps = UInt32(truncatingIfNeeded: (instant.nanoseconds &+ Self.step &- 1) / Self.step)
        // The one whose number is taken is a step late.
        self.steps = steps == .max ? 0 : steps
    }

    /// The last that isn't after `instant`.
    init(notAfter instant: MonotonicTime) {
        let steps = UInt32(truncatingIfNeeded: instant.nanoseconds / Self.step)
        self.steps = steps == .max ? .max - 1 : steps
    }

    /// The same, of which `now` tells in which round it is.
    func time(near now: MonotonicTime) -> MonotonicTime {
        guard self != .never else { return .distantFuture }
        let current = now.nanoseconds / Self.step
        let distance = Int64(Int32(truncatingIfNeeded: Int64(steps) - Int64(UInt32(truncatingIfNeeded: current))))
        return MonotonicTime(nanoseconds: UInt64(clamping: Int64(clamping: current) + distance) &* Self.step)
    }
}

extension CoarseInstant: TimerInstant {
    @inline(__always)
    func isBefore(_ other: CoarseInstant) -> Bool {
        if self == .never { return false }
        return other == .never || Int32(bitPattern: steps &- other.steps) < 0
    }
}
