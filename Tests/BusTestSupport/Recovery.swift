import TestSupport
import Testing

/// How long the bus takes from the instant at which what it stands on is there again: five seconds, as is promised.
package enum Recovery {
    private static let promise = TimeAllowance.bound(.seconds(5))

    /// To be called when the thing is up again; `isWhole` returns when something has crossed. Says how long it took.
    package static func expect(
        after what: String, isolation: isolated (any Actor)? = #isolation, _ isWhole: () async throws -> Void
    ) async throws {
        let stopwatch = Stopwatch()
        try await isWhole()
        let time = stopwatch.elapsed
        print("Whole again after \(what): \((time / .milliseconds(1)).rounded() / 1_000) s")
        #expect(time < promise, "\(what); the machine itself was late: \(stopwatch.allowance)")
    }
}
