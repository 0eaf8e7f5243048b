import Glibc
import Synchronization

/// A connected socket between two owners: accepted but not served yet, or moving to another loop.
///
/// Closes the descriptor if no owner takes it, for example when the job that carries it is dropped. It counts as an
/// open socket meanwhile, so that a drain doesn't take a moving connection for an ended one.
package final class DetachedSocket: Sendable {
    let descriptor: CInt
    let queue: SendQueue
    /// `nil` for a plain socket. `nonisolated(unsafe)` is safe here: the former owner no longer uses the session, and
    /// one other takes it.
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

    /// Gives up the descriptor and its place in the count to a new owner. Call it once.
    func wasTaken() {
        isTaken.store(true, ordering: .relaxed)
    }

    deinit {
        guard !isTaken.load(ordering: .relaxed) else { return }
        close(descriptor)
        openSockets.decrement()
    }
}
