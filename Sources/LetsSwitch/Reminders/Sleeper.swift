import Dispatch

/// A sleep that can be ended early.
actor Sleeper {
    private var waiting: CheckedContinuation<Void, Never>?
    private var timer: (any DispatchSourceTimer)?
    private var isWakeRequested = false

    /// Returns after `duration`, or as soon as somebody calls ``wake()``; at once if that was called since the last sleep.
    /// One sleeper at a time.
    func sleep(for duration: Duration) async {
        guard !isWakeRequested else {
            isWakeRequested = false
            return
        }
        await withCheckedContinuation { continuation in
            waiting = continuation
            let timer = DispatchSource.makeTimerSource(flags: .strict)
            let nanoseconds = min(duration / .nanoseconds(1), 1e18)
            timer.schedule(deadline: .now() + .nanoseconds(Int(max(0, nanoseconds))), leeway: .nanoseconds(0))
            timer.setEventHandler { [weak self] in
                Task { await self?.rise() }
            }
            timer.resume()
            self.timer = timer
        }
        isWakeRequested = false
    }

    func wake() {
        isWakeRequested = true
        rise()
    }

    private func rise() {
        timer?.cancel()
        timer = nil
        waiting?.resume()
        waiting = nil
    }
}
