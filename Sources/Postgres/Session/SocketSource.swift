import Dispatch
import Glibc

/// Calls a handler on a queue whenever a socket is readable, or writable, until cancelled. Confined to that queue.
///
/// It watches a duplicate of the descriptor, closed when Dispatch has let go of it: libpq closes and replaces its
/// sockets when it likes (`PQconnectPoll`, a lost connection, `PQfinish`), and a descriptor closed under a live source
/// could be handed out again and confuse the two.
final class SocketSource {
    enum Direction {
        case read
        case write
    }

    private let source: any DispatchSourceProtocol

    /// nil when `socket` isn't open or no descriptor is left.
    init?(
        _ direction: Direction, of socket: Int32, queue: DispatchQueue, handler: @escaping @Sendable () -> Void
    ) {
        guard socket >= 0 else { return nil }
        let descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        switch direction {
        case .read: source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        case .write: source = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
        }
        source.setEventHandler(handler: handler)
        source.setCancelHandler { _ = close(descriptor) }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    /// The handler doesn't run any more once this returns (on the source's own queue).
    func cancel() {
        source.cancel()
    }
}
