import CLinux
import Dispatch
import Glibc

/// Watches any number of sockets for their owner, by one epoll descriptor that one Dispatch source watches. Confined to its
/// queue.
final class SocketPoller {
    private static let eventsPerWait = 64

    private let poller: Int32
    private let source: any DispatchSourceRead

    /// nil when no descriptor is left.
    ///
    /// - Parameter handler: Called on `queue` when something is ready, again and again until it is taken away.
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

    /// Watches `socket` from now on for this and nothing else.
    ///
    /// - Returns: Whether the kernel does.
    func watch(_ socket: Int32, read: Bool, write: Bool) -> Bool {
        let events = (read ? EPOLLIN.rawValue : 0) | (write ? EPOLLOUT.rawValue : 0)
        var event = epoll_event(events: events, data: epoll_data(fd: socket))
        if epoll_ctl(poller, EPOLL_CTL_ADD, socket, &event) == 0 { return true }
        return errno == EEXIST && epoll_ctl(poller, EPOLL_CTL_MOD, socket, &event) == 0
    }

    /// One that is closed has dropped out by itself.
    func forget(_ socket: Int32) {
        var unused = epoll_event()
        _ = epoll_ctl(poller, EPOLL_CTL_DEL, socket, &unused)
    }

    /// What is ready now; a hang-up or an error counts as all of it.
    func ready() -> [(socket: Int32, read: Bool, write: Bool, error: Bool)] {
        let events = [epoll_event](unsafeUninitializedCapacity: Self.eventsPerWait) { buffer, count in
            // Without a wait, so nothing can interrupt it; an error says that nothing is ready, and the source calls again.
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
