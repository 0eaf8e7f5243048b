import Basics

/// Decides when to send a query again that conflicted with another query (a deadlock or a serialization failure). The
/// database has rolled the query back, so its effects can't happen twice.
struct ConflictRetries {
    /// The wait before the first retry. It doubles with each retry. A random part of up to half is taken off, so that
    /// the queries don't conflict again.
    private static let minPause: Duration = .milliseconds(5)
    private static let maxPause: Duration = .milliseconds(100)

    private var left: Int
    private let deadline: ContinuousClock.Instant
    private var backoff = Backoff(minimum: minPause, maximum: maxPause)

    init(maximum: Int, deadline: ContinuousClock.Instant) {
        left = maximum
        self.deadline = deadline
    }

    /// Returns the wait before the query is sent again, or `nil` if the error is final. `random` is in 0..<1.
    mutating func pause(after error: PostgresError, now: ContinuousClock.Instant, random: Double) -> Duration? {
        guard case .conflict = error.kind, left > 0 else { return nil }
        left -= 1
        let pause = backoff.next(random: random)
        return now + pause < deadline ? pause : nil
    }
}
