import TestSupport
import Testing

/// The time limit for the bus after its database or broker is back: the documented five seconds, plus the machine's own
/// delay (``Stopwatch``).
package enum Recovery {
    private static let promise = TimeAllowance.bound(.seconds(5))

    /// Waits until `isWhole` returns, which must be when a packet has arrived. Call this when the database or broker
    /// runs again. Prints the time that the recovery took.
    package static func expect(
        after what: String, isolation: isolated (any Actor)? = #isolation, _ isWhole: () async throws -> Void
    ) async throws {
        let stopwatch = Stopwatch()
        try await isWhole()
        let time = stopwatch.elapsed
        let passed = stopwatch.passed
        print("Whole again after \(what): \(seconds(time)) s, of \(seconds(passed)) s that passed")
        #expect(time < promise, "\(what); \(passed) passed, and the machine itself was late: \(stopwatch.allowance)")
    }

    private static func seconds(_ duration: Duration) -> Double { (duration / .milliseconds(1)).rounded() / 1_000 }
}
