import CLinux
import Dispatch
import Glibc

/// Watches any number of sockets with one epoll descriptor and one Dispatch source. The object is used only on its
/// queue.
final class SocketPoller {
    private static let eventsPerWait = 64

    private let poller: Int32
    private let source: any DispatchSourceRead

    /// Returns `nil` if the process has no descriptor left.
    ///
    /// - Parameter handler: Called on `queue` repeatedly, as long as a socket is ready.
    init?(queue: DispatchQueue, handler: @escaping @Sendable () -> Void) {
        let poller = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard poller >= 0 else { return nil }
        self.poller = poller
        source = DispatchSource.makeReadSource(fileDescriptor: poller, queue: queue)
        source.setEventHandler(handler: handler)
        source.setCancelHandler { _ = close(poller) }
        source.activate()
    }

    deinit {
        source.cancel()
    }

    /// Watches `socket` for these events only, from now on.
    ///
    /// - Returns: Whether the kernel accepts the socket.
    func watch(_ socket: Int32, read: Bool, write: Bool) -> Bool {
        let events = (read ? EPOLLIN.rawValue : 0) | (write ? EPOLLOUT.rawValue : 0)
        var event = epoll_event(events: events, data: epoll_data(fd: socket))
        if epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event) == 0 { return true }
        return errno == EEXIST && epoll_ctl(poller, EPOLL_CTL_MOD, socket, &event) == 0
    }

    /// Stops watching a socket. The kernel removes a closed socket by itself.
    func remove(_ socket: Int32) {
        var unused = epoll_event()
        _ = epoll_ctl(poller, EPOLL_CTL_DEL, socket, &unused)
    }

    /// Returns the ready sockets. For a socket with a hang-up or an error, all events are set.
    func ready() -> [(socket: Int32, read: Bool, write: Bool, error: Bool)] {
        let events = [epoll_event](unsafeUninitializedCapacity: Self.eventsPerWait) { buffer, count in
            // The call doesn't wait, so no signal can interrupt it. If it fails, no socket counts as ready, and the
            // source calls the handler again.
            count = Int(max(0, epoll_wait(poller, buffer.baseAddress, Int32(buffer.count), 0)))
        }
        return events.map { event in
            let isBroken = event.events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
            return (
                event.data.fd, isBroken || event.events & EPOLLIN.rawValue != 0,
                isBroken || event.events & EPOLLOUT.rawValue != 0, isBroken
            )
        }
    }
}
