package import Basics

/// Repeats statements of the daemon itself, such as its last statement before it stops. No caller would notice their
/// failure.
///
/// Requests of users aren't repeated here: their callers receive the error and decide.
package enum UnavailabilityRetries {
    /// The maximum number of attempts. The pool's limits bound the time of each.
    private static let attempts = 3
    private static let pauses = Backoff(minimum: .milliseconds(100), maximum: .milliseconds(400))

    /// Runs `work`, and runs it again while the database is unavailable, at most three times in total. `work` must be
    /// safe to repeat, because an attempt without an answer may have taken effect.
    ///
    /// - Parameter deadline: The time after which no further attempt begins.
    /// - Throws: The error of the last attempt.
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
