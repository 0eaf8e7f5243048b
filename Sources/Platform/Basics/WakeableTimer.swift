import Dispatch

/// A sleep that can be ended early.
///
/// | state    | `sleep`        | time is over   | `wake`         |
/// |----------|----------------|----------------|----------------|
/// | idle     | → sleeping     |                | → woken        |
/// | sleeping | (a mistake)    | returns → idle | returns → idle |
/// | woken    | returns → idle |                | stays          |
package actor WakeableTimer {
    private enum State {
        case idle
        case sleeping(number: Int, CheckedContinuation<Void, Never>, any DispatchSourceTimer)
        /// Nobody slept: the next sleep ends at once.
        case woken
    }

    private var state = State.idle
    private var sleeps = 0

    package init() {}

    /// Returns after `duration`, or as soon as somebody calls ``wake()``; at once if that was called since the last sleep.
    /// One sleeper at a time. Cancelling its task doesn't end a sleep.
    package func sleep(for duration: Duration) async {
        switch state {
        case .woken: state = .idle
        case .sleeping: preconditionFailure("one sleeper at a time")
        case .idle:
            sleeps += 1
            await withCheckedContinuation { begin(number: sleeps, for: duration, $0) }
            // Whoever wakes us from here on is answered by what the sleeper does now.
            if case .woken = state { state = .idle }
        }
    }

    private func begin(number: Int, for duration: Duration, _ continuation: CheckedContinuation<Void, Never>) {
        let timer = DispatchSource.makeTimerSource(flags: .strict)
        timer.schedule(deadline: .now() + duration.dispatchInterval, leeway: .nanoseconds(0))
        // Holds us until then: who sleeps is always woken.
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

    /// A timer's word may come late: after its sleep, and in the next one.
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
