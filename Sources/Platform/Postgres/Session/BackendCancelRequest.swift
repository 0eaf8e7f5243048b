import Basics
import CLibpq
import Dispatch

/// Asks a server to cancel what a connection runs.
///
/// `@unchecked Sendable` holds because a `PGcancel` is a copy of the connection's address and key that `PQcancel` only
/// reads and any thread may use (PostgreSQL 15 manual, 34.7).
final class BackendCancelRequest: @unchecked Sendable {
    private let request: OpaquePointer

    init?(_ connection: OpaquePointer) {
        guard let request = PQgetCancel(connection) else { return nil }
        self.request = request
    }

    deinit {
        PQfreeCancel(request)
    }

    /// Blocks until the server has taken the request, or can't be reached: as long as the kernel's time-outs for a
    /// connection (libpq 15 has none of its own here), on a thread where nobody waits. Nothing is to be done when it fails: the
    /// connection is closed anyway, and the server has limits of its own.
    func send() {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
            _ = PQcancel(request, message.baseAddress, Int32(message.count))
        }
    }
}

/// Sends cancel requests, which block, each on a thread of its own: one whose address hangs holds up none of the others.
final class CancelSender: Sendable {
    /// For what isn't a pool's.
    static let shared = CancelSender()

    /// Threads at most.
    private static let width = 32
    /// Requests that wait for a thread at most. Beyond, the oldest is left out: the server's own limit ends its statement.
    private static let maxWaiting = 1_024

    private struct State {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())

    /// Calls `request` on a thread where it may block.
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
        // A queue of its own is a thread of its own; blocking one that others share would hold these up.
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
