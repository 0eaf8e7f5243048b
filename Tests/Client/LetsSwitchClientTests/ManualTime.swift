import Basics
import TestSupport

@testable import LetsSwitchClient

/// A clock that the test sets, with a record of the sleeps.
final class ManualTime: Sendable {
    private struct State {
        var now = Duration.zero
        var sleepers: [(until: Duration, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())
    /// The ends of all sleeps that have begun.
    let sleeps = EventRecorder<Duration>()

    var time: ClientTime {
        ClientTime(
            now: { self.state.withLock { $0.now } },
            sleep: { until in
                await withCheckedContinuation { continuation in
                    let isDue = self.state.withLock { state in
                        if until > state.now { state.sleepers.append((until, continuation)) }
                        return until <= state.now
                    }
                    self.sleeps.append(until)
                    if isDue { continuation.resume() }
                }
                try Task.checkCancellation()
            },
            fraction: { 0.5 })
    }

    func advance(to now: Duration) {
        let due = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.now = max(state.now, now)
            let due = state.sleepers.filter { $0.until <= state.now }.map(\.continuation)
            state.sleepers.removeAll { $0.until <= state.now }
            return due
        }
        for continuation in due { continuation.resume() }
    }

    /// Waits for a sleep until exactly this time, and ends it.
    func pass(_ until: Duration) async throws {
        try await sleeps.next("a sleep until \(until)") { $0 == until }
        advance(to: until)
    }

    /// Ends all remaining sleeps.
    deinit {
        for sleeper in state.withLock({ $0.sleepers.map(\.continuation) }) { sleeper.resume() }
    }
}
