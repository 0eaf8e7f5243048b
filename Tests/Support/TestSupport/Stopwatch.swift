import Basics

/// How long something takes that is promised within a time, less what the machine itself doesn't get done in that time.
///
/// A task that wants to run every few milliseconds sees how late the machine is: a test that holds a daemon to its seconds then
/// says nothing of the other programs that run beside it. A daemon that is slow by itself, and waits, is slow here too.
///
/// It never stands still: what takes ten times as long as is promised is too slow on any machine.
package final class Stopwatch: Sendable {
    private static let tick = Duration.milliseconds(10)
    /// Several processes have to get their turns, one after the other, where that task waits for one.
    private static let turns = 4
    /// At least one part in this many of the time passed is counted.
    private static let slowestPace = 10

    private let start = ContinuousClock.now
    private let late = Locked(Duration.zero)
    private let watch: Task<Void, Never>

    /// Starts it.
    package init() {
        watch = Task.detached { [late] in
            while !Task.isCancelled {
                let before = ContinuousClock.now
                // Cut short by cancelling alone.
                try? await Task.sleep(for: Self.tick)
                let lateness = ContinuousClock.now - before - Self.tick
                late.withLock { $0 += max(.zero, lateness) }
            }
        }
    }

    deinit { watch.cancel() }

    /// The time since the start.
    package var passed: Duration { ContinuousClock.now - start }

    /// The time not to be counted: the machine's delay since the start, for all processes that had to run.
    package var allowance: Duration { late.withLock { $0 } * Self.turns }

    /// The time since the start that is to be counted.
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
