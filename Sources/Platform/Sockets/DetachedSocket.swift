import Glibc
import Synchronization

/// A connected socket between two owners: accepted but not yet served, or on its way to another loop.
///
/// Closes the descriptor if nobody takes it, whatever happens to the job that carried it. It counts as an open socket
/// all the while: a drain must not take a connection that changes loops for one that has ended.
package final class DetachedSocket: Sendable {
    let descriptor: CInt
    let queue: SendQueue
    /// `nil` for a plain socket. Unsafe in the type's eyes only: the socket that gave it away has let go of it, and one
    /// other takes it.
    nonisolated(unsafe) let tls: TLSSession?
    private let openSockets: SocketCount
    private let isTaken = Atomic<Bool>(false)

    /// Owns `descriptor`, which must be non-blocking, and counts it.
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

    /// The descriptor and its place in the count are another's now. To be called once.
    func wasTaken() {
        isTaken.store(true, ordering: .relaxed)
    }

    deinit {
        guard !isTaken.load(ordering: .relaxed) else { return }
        close(descriptor)
        openSockets.decrement()
    }
}
