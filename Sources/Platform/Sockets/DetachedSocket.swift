import Glibc
import Synchronization

/// A connected socket between two owners. It was accepted but isn't served yet, or it is moving to another loop.
///
/// The descriptor is closed if no owner takes it, for example because the job that carries it is dropped. Until an
/// owner takes the descriptor, the socket counts as open, so that a drain waits for moving connections too.
package final class DetachedSocket: Sendable {
    let descriptor: CInt
    let queue: SendQueue
    /// The TLS session, or `nil` for a plain socket. `nonisolated(unsafe)` is safe because the previous owner no longer
    /// uses the session, and only one new owner takes it.
    nonisolated(unsafe) let tls: TLSSession?
    private let openSockets: SocketCount
    private let isTaken = Atomic<Bool>(false)

    /// Takes ownership of `descriptor`, which must be non-blocking, and counts it.
    convenience init(descriptor: CInt, openSockets: SocketCount) {
        openSockets.increment()
        self.init(descriptor: descriptor, queue: SendQueue(), tls: nil, countedIn: openSockets)
    }

    init(descriptor: CInt, queue: SendQueue, tls: TLSSession?, countedIn openSockets: SocketCount) {
        self.descriptor = descriptor
        self.queue = queue
        self.tls = tls
        self.openSockets = openSockets
    }

    /// Records that a new owner has taken the descriptor, and its place in the count. Call this once.
    func wasTaken() {
        isTaken.store(true, ordering: .relaxed)
    }

    deinit {
        guard !isTaken.load(ordering: .relaxed) else { return }
        close(descriptor)
        openSockets.decrement()
    }
}
