import CLinux
package import Dispatch
import Glibc

/// Calls a handler on a queue whenever a socket or pipe is readable or writable, until cancelled. Confined to that
/// queue.
///
/// Dispatch sees only an epoll descriptor that watches the actual one. On Linux, a hang-up (`EPOLLHUP`) of a watched
/// descriptor makes libdispatch free its record on the source's queue while its manager thread still uses it: a rare
/// crash when a peer goes away. An epoll descriptor never hangs up. libpq may also close and replace its sockets at any
/// time (`PQconnectPoll`, `PQfinish`), because the kernel removes a closed socket from epoll.
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

    /// Watches nothing yet. nil if no descriptor is left.
    ///
    /// - Parameter handler: Called on `queue` repeatedly while the descriptor is ready. A hang-up or error is reported
    ///   whatever the interest.
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

    /// Watches only `descriptor` from now on, for `interest`. A closed descriptor is dropped automatically. Returns
    /// `false` if the kernel refuses: the descriptor isn't open, or there is no memory.
    package func watch(_ descriptor: Int32, for interest: Interest) -> Bool {
        var event = epoll_event(events: interest.rawValue, data: epoll_data(fd: descriptor))
        if epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) == 0 { return true }
        return errno == EEXIST && epoll_ctl(poller, EPOLL_CTL_MOD, descriptor, &event) == 0
    }

    /// Pauses the handler until ``resume()``. Calls must be balanced.
    package func suspend() {
        source.suspend()
    }

    package func resume() {
        source.resume()
    }

    /// After this returns, the handler isn't called any more (on the source's own queue). Suspensions must be balanced
    /// before, because Dispatch never frees a suspended source.
    package func cancel() {
        source.cancel()
    }
}
