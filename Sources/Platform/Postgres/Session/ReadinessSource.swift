import CLinux
package import Dispatch
import Glibc

/// Calls a handler on a queue whenever a socket or pipe is readable or writable, until it is cancelled. This object is
/// used only on that queue.
///
/// Dispatch gets only an epoll descriptor, which watches the real descriptor. The reason is a fault of Dispatch on
/// Linux. When a watched descriptor has a hang-up (`EPOLLHUP`), libdispatch frees its record on the source's queue
/// while its manager thread still uses the record. This causes rare crashes when a peer closes the connection. An epoll
/// descriptor never has a hang-up. libpq may also close and replace its sockets at any time (`PQconnectPoll`,
/// `PQfinish`), because the kernel removes a closed socket from epoll.
package final class ReadinessSource {
    package struct Interest: OptionSet, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        package static let read = Interest(rawValue: EPOLLIN.rawValue)
        package static let write = Interest(rawValue: EPOLLOUT.rawValue)
    }

    private let poller: Int32
    private let source: any DispatchSourceRead

    /// Creates a source that doesn't watch anything yet. Returns `nil` if the process has no descriptor left.
    ///
    /// - Parameter handler: Called on `queue` repeatedly, as long as the descriptor is ready. A hang-up or an error is
    ///   reported for any interest.
    package init?(queue: DispatchQueue, handler: @escaping @Sendable () -> Void) {
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

    /// Watches only `descriptor` from now on, for `interest`. The kernel removes a closed descriptor by itself. Returns
    /// `false` if the kernel refuses: the descriptor isn't open, or memory is exhausted.
    package func watch(_ descriptor: Int32, for interest: Interest) -> Bool {
        var event = epoll_event(events: interest.rawValue, data: epoll_data(fd: descriptor))
        if epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) == 0 { return true }
        return errno == EEXIST && epoll_ctl(poller, EPOLL_CTL_MOD, descriptor, &event) == 0
    }

    /// Pauses the handler until ``resume()``. Each call needs one call of ``resume()``.
    package func suspend() {
        source.suspend()
    }

    package func resume() {
        source.resume()
    }

    /// Ends the source. If this is called on the source's own queue, the handler isn't called any more after it
    /// returns. The source must not be suspended, because Dispatch never frees a suspended source.
    package func cancel() {
        source.cancel()
    }
}
