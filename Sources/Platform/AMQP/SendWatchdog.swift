import Basics
import Dispatch

/// Limits the time of sending, because librabbitmq waits without a limit for a broker that doesn't read. After the
/// limit, the watchdog shuts the socket down, so that every call on the socket fails.
///
/// The watchdog's timer ticks only if something was watched since its last tick, so an idle connection costs nothing.
final class SendWatchdog: Sendable {
    private struct State {
        var deadline: MonotonicTime?
        var hasWatched = false
        var isTicking = false
    }

    private static let tick: Duration = .milliseconds(250)

    private let state = Locked(State())
    private let cut: @Sendable () -> Void

    /// - Parameter cut: Called on another thread when the limit has passed, and again at each tick until the work is
    ///   done.
    init(cut: @escaping @Sendable () -> Void) {
        self.cut = cut
    }

    func watch<Result, Failure: Error>(for limit: Duration, _ work: () throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        let deadline = MonotonicTime.now() + limit
        let (outer, starts) = state.withLock { state in
            defer {
                state.deadline = deadline
                state.hasWatched = true
                state.isTicking = true
            }
            return (state.deadline, !state.isTicking)
        }
        if starts { tickLater() }
        // Watched work may contain other watched work. The outer deadline applies again afterwards.
        defer { state.withLock { $0.deadline = outer } }
        return try work()
    }

    private func tickLater() {
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.tick.dispatchInterval) { [weak self] in self?.look() }
    }

    private func look() {
        let (isOverdue, continues) = state.withLock { state in
            let isOverdue = state.deadline.map { $0 < .now() } ?? false
            state.isTicking = state.hasWatched || state.deadline != nil
            state.hasWatched = false
            return (isOverdue, state.isTicking)
        }
        if isOverdue { cut() }
        if continues { tickLater() }
    }
}
