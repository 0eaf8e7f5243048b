import Basics
import CLibpq
import Dispatch

/// A request to the server to cancel a connection's running query.
///
/// `@unchecked Sendable` is safe because a `PGcancel` is a copy of the connection's address and key. `PQcancel` only
/// reads it, and any thread may call `PQcancel` (PostgreSQL 15 manual, 34.7).
final class BackendCancelRequest: @unchecked Sendable {
    private let request: OpaquePointer

    init?(_ connection: OpaquePointer) {
        guard let request = PQgetCancel(connection) else { return nil }
        self.request = request
    }

    deinit {
        PQfreeCancel(request)
    }

    /// Sends the request. Blocks until the server has taken it or can't be reached, at most for the kernel's connection
    /// timeout: libpq 15 has no timeout of its own here. A failure is ignored, because the connection is closed anyway
    /// and the server has its own limits.
    func send() {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
            _ = PQcancel(request, message.baseAddress, Int32(message.count))
        }
    }
}

/// Sends cancel requests, each on its own thread because they block. A request that hangs doesn't delay the others.
final class CancelSender: Sendable {
    /// The sender for connections that don't belong to a pool.
    static let shared = CancelSender()

    /// The maximum number of threads.
    private static let width = 32
    /// The maximum number of waiting requests. If there are more, the oldest is dropped. The server's own limit then
    /// ends that statement.
    private static let maxWaiting = 1_024

    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())

    /// Calls `request` on a thread that may block.
    func send(_ request: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            guard state.running < Self.width else {
                if state.waiting.count >= Self.maxWaiting { state.waiting.removeFirst() }
                state.waiting.append(request)
                return false
            }
            state.running += 1
            return true
        }
        // Dispatch gives a new queue its own thread. Blocking a shared thread would delay other work.
        if starts { DispatchQueue(label: "postgres.cancel").async { self.work(request) } }
    }

    private func work(_ first: @escaping @Sendable () -> Void) {
        var next: (@Sendable () -> Void)? = first
        while let request = next {
            request()
            next = state.withLock { state in
                guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
                state.running -= 1
                return nil
            }
        }
    }
}
