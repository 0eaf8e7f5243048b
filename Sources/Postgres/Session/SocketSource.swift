import Dispatch
import Glibc

/// Calls a handler on a queue whenever a socket is readable, or writable, until cancelled. Confined to that queue.
///
/// It watches a duplicate of the descriptor, closed when Dispatch has let go of it: libpq closes and replaces its
/// sockets when it likes (`PQconnectPoll`, a lost connection, `PQfinish`), and a descriptor closed under a live source
/// could be handed out again and confuse the two.
///
/// A peer that hangs up is told of once: Dispatch then watches the socket no more. Where its last bytes come in the same
/// moment, whoever reads only those never hears of the end; so a reader asks ``hasHungUp(_:)``, and reads on.
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

    /// Whether the peer has closed its end, or the connection is broken; bytes may still be there to be read.
    static func hasHungUp(_ socket: Int32) -> Bool {
        var poller = pollfd(fd: socket, events: 0, revents: 0)
        return poll(&poller, 1, 0) > 0 && poller.revents & Int16(POLLHUP | POLLERR) != 0
    }

    /// The handler doesn't run any more once this returns (on the source's own queue).
    func cancel() {
        source.cancel()
    }
}
