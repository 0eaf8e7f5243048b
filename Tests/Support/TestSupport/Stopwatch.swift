import Basics

/// Measures a time that the documentation promises, without the delay that other programs on the machine cause.
///
/// A task that wants to run every few milliseconds measures that delay. So a test of a daemon's time limit doesn't fail
/// because of other programs. A daemon that is slow for its own reasons is still slow here.
///
/// The counted time never stands still. A daemon that takes ten times the promised time is too slow on any machine.
package final class Stopwatch: Sendable {
    private static let tick = Duration.milliseconds(10)
    /// Several processes must run one after the other, while the measuring task waits for only one turn.
    private static let turns = 4
    /// At least this fraction of the time passed is counted: one part in ten.
    private static let slowestPace = 10

    private let start = ContinuousClock.now
    private let late = Locked(Duration.zero)
    private let watch: Task<Void, Never>

    /// Starts the stopwatch.
    package init() {
        watch = Task.detached { [late] in
            while !Task.isCancelled {
                let before = ContinuousClock.now
                // The sleep ends early only if it is cancelled.
                try? await Task.sleep(for: Self.tick)
                let lateness = ContinuousClock.now - before - Self.tick
                late.withLock { $0 += max(.zero, lateness) }
            }
        }
    }

    deinit { watch.cancel() }

    /// The time since the start.
    package var passed: Duration { ContinuousClock.now - start }

    /// The time that isn't counted: the machine's delay since the start, for all processes that had to run.
    package var allowance: Duration { late.withLock { $0 } * Self.turns }

    /// The counted time since the start.
    package var elapsed: Duration { Self.counted(of: passed, allowance: allowance) }

    static func counted(of passed: Duration, allowance: Duration) -> Duration {
        max(passed / slowestPace, passed - allowance)
    }

    /// Measures `body`.
    package static func measure(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
    ) async rethrows -> Duration {
        let stopwatch = Stopwatch()
        try await body()
        return stopwatch.elapsed
    }
}
