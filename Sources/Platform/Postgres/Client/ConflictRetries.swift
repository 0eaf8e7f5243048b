import Basics

/// When a query that met another one (a deadlock, a conflict of snapshots) is sent again: it was rolled back, so that nothing
/// is done twice.
struct ConflictRetries {
    /// The wait before the first; doubles with each, by a random half less, so that the two don't meet again.
    private static let minPause: Duration = .milliseconds(5)
    private static let maxPause: Duration = .milliseconds(100)

    private var left: Int
    private let deadline: ContinuousClock.Instant
    private var backoff = Backoff(minimum: minPause, maximum: maxPause)

    init(maximum: Int, deadline: ContinuousClock.Instant) {
        left = maximum
        self.deadline = deadline
    }

    /// How long to wait before the query is sent again; nil when the error stands. `random` is in 0..<1.
    mutating func pause(after error: PostgresError, now: ContinuousClock.Instant, random: Double) -> Duration? {
        guard case .conflict = error.kind, left > 0 else { return nil }
        left -= 1
        let pause = backoff.next(random: random)
        return now + pause < deadline ? pause : nil
    }
}
