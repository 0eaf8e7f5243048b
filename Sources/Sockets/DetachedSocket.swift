import Glibc
import Synchronization

/// A connected socket between two owners: accepted but not yet served, or on its way to another loop.
///
/// Closes the descriptor if nobody takes it, whatever happens to the job that carried it.
package final class DetachedSocket: Sendable {
    private let descriptor: CInt
    private let isTaken = Atomic<Bool>(false)
    let queue: SendQueue

    /// Owns `descriptor`, which must be non-blocking.
    init(descriptor: CInt, queue: SendQueue = SendQueue()) {
        self.descriptor = descriptor
        self.queue = queue
    }

    /// Gives the descriptor away. To be called once.
    func take() -> CInt {
        isTaken.store(true, ordering: .relaxed)
        return descriptor
    }

    deinit {
        if !isTaken.load(ordering: .relaxed) { close(descriptor) }
    }
}
