import Dispatch
import Glibc
import Postgres

/// Lets one waiter at a time wait until a descriptor is readable or writable, a deadline has passed, or the wait is
/// cancelled. The Dispatch source runs only during a wait: a client that doesn't receive leaves the bytes in the
/// kernel, as a stalled peer does.
///
/// `@unchecked Sendable`: everything but `cancelLater` is called on `queue`, where the handlers run too.
final class ReadinessGate: @unchecked Sendable {
    enum WakeUp {
        case ready, timedOut, cancelled, closed
    }

    private let queue: DispatchQueue
    private var source: ReadinessSource?
    private let timer: any DispatchSourceTimer
    private var waiter: CheckedContinuation<WakeUp, Never>?
    /// The number of the wait. It distinguishes a late cancellation from one of the current wait.
    private var turn: UInt64 = 0
    /// The last wait that was cancelled, possibly before it began.
    private var cancelledTurn: UInt64 = 0
    private var isArmed = false
    private var isClosed = false

    /// Watches `descriptor`, which must stay open until ``close()``. Throws if no descriptor is left for watching it.
    init(_ descriptor: Int32, for interest: ReadinessSource.Interest, queue: DispatchQueue) throws {
        self.queue = queue
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.wake(.timedOut) }
        timer.schedule(deadline: .distantFuture)
        timer.activate()
        let source = ReadinessSource(queue: queue) { [weak self] in self?.wake(.ready) }
        guard let source, source.watch(descriptor, for: interest) else {
            throw ClientFailure.system(call: "epoll_ctl", code: errno)
        }
        source.suspend()
        self.source = source
    }

    func nextTurn() -> UInt64 {
        turn += 1
        return turn
    }

    func wait(_ continuation: CheckedContinuation<WakeUp, Never>, until deadline: Deadline, turn: UInt64) {
        dispatchPrecondition(condition: .onQueue(queue))
        guard !isClosed, waiter == nil else { return continuation.resume(returning: .closed) }
        guard cancelledTurn != turn else { return continuation.resume(returning: .cancelled) }
        waiter = continuation
        timer.schedule(deadline: .now() + .nanoseconds(deadline.remainingNanoseconds))
        isArmed = true
        source?.resume()
    }

    /// From any thread.
    func cancelLater(turn: UInt64) {
        queue.async { [self] in
            guard turn == self.turn else { return }
            cancelledTurn = turn
            wake(.cancelled)
        }
    }

    /// Ends the wait. The descriptor may be closed afterwards.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        wake(.closed)
        // A suspended source never delivers its cancellation.
        source?.resume()
        source?.cancel()
        timer.cancel()
    }

    private func wake(_ reason: WakeUp) {
        if isArmed {
            isArmed = false
            source?.suspend()
        }
        guard let waiter else { return }
        self.waiter = nil
        if !isClosed { timer.schedule(deadline: .distantFuture) }
        waiter.resume(returning: reason)
    }
}
