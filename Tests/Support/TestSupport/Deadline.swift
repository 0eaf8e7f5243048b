/// The instant at which a wait ends, and the wait's original duration for the message.
package struct Deadline: Sendable {
    /// The limit of every wait if the test sets none. It is far longer than anything takes, even under a sanitizer on a
    /// busy machine. It only turns a hang into a failure.
    package static let standard: Duration = .seconds(180)

    let instant: ContinuousClock.Instant
    let allowed: Duration

    package init(after allowed: Duration) {
        self.allowed = allowed
        instant = ContinuousClock.now + allowed
    }

    /// The remaining time in nanoseconds, never below zero.
    var remainingNanoseconds: Int {
        let (seconds, attoseconds) = (instant - ContinuousClock.now).components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        // No test waits for over a day; the bound prevents an overflow.
        return Int(min(seconds, 86_400)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }

    var remaining: Duration { .nanoseconds(remainingNanoseconds) }
}
