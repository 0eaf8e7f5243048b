import TestSupport
import Testing

/// How long the bus takes from the instant at which what it stands on is there again: five seconds, as is promised.
///
/// What the machine itself doesn't get done in that time is left out of account: a task that wants to run every few milliseconds sees it.
enum Recovery {
    private static let promise = TimeAllowance.bound(.seconds(5))
    private static let tick = Duration.milliseconds(10)
    /// Several processes have to get their turns, one after the other, where that task waits for one.
    private static let turns = 4

    /// To be called when the thing is up again; `isWhole` returns when something has crossed. Says how long it took.
    static func expect(
        after what: String, isolation: isolated (any Actor)? = #isolation, _ isWhole: () async throws -> Void
    ) async throws {
        let clock = ContinuousClock()
        let start = clock.now
        let watch = Task.detached {
            var late = Duration.zero
            while !Task.isCancelled {
                let before = clock.now
                // Cut short by cancelling alone.
                try? await Task.sleep(for: tick)
                late += max(.zero, clock.now - before - tick)
            }
            return late
        }
        defer { watch.cancel() }
        try await isWhole()
        let time = clock.now - start
        watch.cancel()
        let late = await watch.value
        print("Whole again after \(what): \(seconds(time)) s")
        #expect(time < promise + late * turns, "\(what); the machine itself was late by \(seconds(late)) s")
    }

    private static func seconds(_ duration: Duration) -> Double {
        (duration / .milliseconds(1)).rounded() / 1_000
    }
}
