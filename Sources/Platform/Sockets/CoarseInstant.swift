import Basics

/// An instant in steps of 50 ms, stored in four bytes. Each socket has two of them, and its loop's queue has a third
/// one.
///
/// Deadlines of sockets are seconds away, and most are moved before they pass. All deadlines in one step wake the loop
/// only once. Ten thousand separate wake-ups would cost a tenth of the CPU time that the connections' messages need.
///
/// The number of a step wraps around, as TCP's sequence numbers do (RFC 9293 §3.4). Two instants can be compared if
/// they are less than three years apart.
struct CoarseInstant: Hashable, Sendable {
    /// The length of a step in nanoseconds.
    static let step: UInt64 = 50_000_000
    /// An instant after all others.
    static let never = CoarseInstant(steps: .max)
    /// The longest time ahead in nanoseconds. An instant after it is treated as ``never``.
    static let horizon = step << 30

    private let steps: UInt32

    private init(steps: UInt32) {
        self.steps = steps
    }

    /// Creates the first step that isn't before `instant`, or ``never`` beyond the ``horizon``.
    @inline(__always)
    init(notBefore instant: MonotonicTime, at now: MonotonicTime) {
        guard instant.nanoseconds < now.nanoseconds &+ Self.horizon else {
            self = .never
            return
        }
        let steps = UInt32(truncatingIfNeeded: (instant.nanoseconds &+ Self.step &- 1) / Self.step)
        // A step must not have the number of ``never``, so it becomes the next one.
        self.steps = steps == .max ? 0 : steps
    }

    /// Creates the last step that isn't after `instant`.
    init(notAfter instant: MonotonicTime) {
        let steps = UInt32(truncatingIfNeeded: instant.nanoseconds / Self.step)
        self.steps = steps == .max ? .max - 1 : steps
    }

    /// Returns the time of this step. `now` determines how often the number has wrapped around.
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
