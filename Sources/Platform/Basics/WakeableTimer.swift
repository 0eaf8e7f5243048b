import Dispatch

/// A sleep that can be ended early.
///
/// ```
/// | state    | `sleep`        | time is over   | `wake`         |
/// |----------|----------------|----------------|----------------|
/// | idle     | → sleeping     |                | → woken        |
/// | sleeping | (a mistake)    | returns → idle | returns → idle |
/// | woken    | returns → idle |                | stays          |
/// ```
package actor WakeableTimer {
    private enum State {
        case idle
        case sleeping(number: Int, CheckedContinuation<Void, Never>, any DispatchSourceTimer)
        /// ``wake()`` was called while nothing was sleeping. The next sleep ends immediately.
        case woken
    }

    private var state = State.idle
    private var sleeps = 0

    package init() {}

    /// Returns after `duration`, or as soon as ``wake()`` is called. If ``wake()`` was called since the last sleep,
    /// returns immediately. Only one caller may sleep at a time. Cancelling the caller's task doesn't end the sleep.
    package func sleep(for duration: Duration) async {
        switch state {
        case .woken: state = .idle
        case .sleeping: preconditionFailure("one sleeper at a time")
        case .idle:
            sleeps += 1
            await withCheckedContinuation { begin(number: sleeps, for: duration, $0) }
            // After this line, a wake-up refers to the work that the caller does after this sleep.
            if case .woken = state { state = .idle }
        }
    }

    private func begin(number: Int, for duration: Duration, _ continuation: CheckedContinuation<Void, Never>) {
        let timer = DispatchSource.makeTimerSource(flags: .strict)
        timer.schedule(deadline: .now() + duration.dispatchInterval, leeway: .nanoseconds(0))
        // The handler keeps this actor alive until the timer fires, so that the caller always wakes up.
        timer.setEventHandler { @Sendable in Task { await self.timeIsOver(number: number) } }
        timer.resume()
        state = .sleeping(number: number, continuation, timer)
    }

    package func wake() {
        switch state {
        case .sleeping(_, let continuation, let timer): end(continuation, timer)
        case .idle, .woken: state = .woken
        }
    }

    /// Ends the sleep with this number. A timer may fire late, during the next sleep. The number shows which sleep it
    /// belongs to.
    private func timeIsOver(number: Int) {
        guard case .sleeping(number, let continuation, let timer) = state else { return }
        end(continuation, timer)
    }

    private func end(_ continuation: CheckedContinuation<Void, Never>, _ timer: any DispatchSourceTimer) {
        state = .idle
        timer.cancel()
        continuation.resume()
    }
}
