import Basics
import Dispatch

/// Ends sends that librabbitmq would wait for without limit, while the broker doesn't read. It shuts the socket down,
/// so that every call on it fails.
///
/// It ticks only while something was watched since its last tick. An idle connection costs nothing.
final class SendWatchdog: Sendable {
    private struct State {
        var deadline: MonotonicTime?
        var hasWatched = false
        var isTicking = false
    }

    private static let tick: Duration = .milliseconds(250)

    private let state = Locked(State())
    private let cut: @Sendable () -> Void

    /// - Parameter cut: Called on another thread, once per tick while the work isn't done.
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
        // Work may be nested.
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
