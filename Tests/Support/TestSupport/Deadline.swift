/// An instant until which a wait may last, and how long that was at the outset (for the message).
package struct Deadline: Sendable {
    /// What every wait is given if the test doesn't say. Far longer than anything takes, also under a sanitizer on a
    /// busy machine: it is there to turn a hang into a failure.
    package static let standard: Duration = .seconds(180)

    let instant: ContinuousClock.Instant
    let allowed: Duration

    package init(after allowed: Duration) {
        self.allowed = allowed
        instant = ContinuousClock.now + allowed
    }

    /// What is left, in whole nanoseconds, never below zero.
    var remainingNanoseconds: Int {
        let (seconds, attoseconds) = (instant - ContinuousClock.now).components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        // A wait of over a day is no wait that a test makes; the bound keeps the product within range.
        return Int(min(seconds, 86_400)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }

    var remaining: Duration { .nanoseconds(remainingNanoseconds) }
}
