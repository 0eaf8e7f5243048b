package import Basics

/// Repeats statements whose failure nobody would notice, such as the last statement of a daemon that stops.
///
/// Requests of users aren't repeated: their callers receive the error and decide.
package enum UnavailabilityRetries {
    /// Each attempt is bounded by the pool's limits.
    private static let attempts = 3
    private static let pauses = Backoff(minimum: .milliseconds(100), maximum: .milliseconds(400))

    /// Runs `work` again while the database is unavailable, three times in all. `work` must be safe to repeat, since an attempt without an
    /// answer may have taken effect.
    ///
    /// - Parameter deadline: No attempt begins after it, except the first.
    /// - Throws: The last attempt's error.
    package static func run<Result>(
        until deadline: MonotonicTime? = nil, isolation: isolated (any Actor)? = #isolation,
        _ work: () async throws -> Result
    ) async throws -> Result {
        var backoff = pauses
        while true {
            do {
                return try await work()
            } catch let error as PostgresError where error.isUnavailable {
                let pause = backoff.next(random: .random(in: 0..<1))
                guard backoff.failures < attempts, deadline.map({ .now() + pause < $0 }) ?? true else { throw error }
                try await Task.sleep(for: pause)
            }
        }
    }
}
