import CLinux
package import Dispatch
import Glibc

/// Calls a handler on a queue whenever a socket or pipe is readable, or writable, until cancelled. Confined to that
/// queue.
///
/// Dispatch never sees the descriptor itself, only an epoll descriptor that watches it. On Linux libdispatch reacts to a
/// hang-up (`EPOLLHUP`) of a watched descriptor by letting the source's queue free its record of the descriptor, while
/// its manager thread still walks that record: a crash, rare, whenever a peer goes away. An epoll descriptor never
/// hangs up. It also lets libpq close and replace its sockets when it likes (`PQconnectPoll`, `PQfinish`): the kernel
/// takes a closed socket off the watch.
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

    /// Watches nothing yet. nil when no descriptor is left.
    ///
    /// - Parameter handler: Called on `queue`, again and again until what was reported is taken away; a hang-up or an
    ///   error of the descriptor is reported whatever the interest.
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

    /// Watches `descriptor` from now on, for `interest` and nothing else; one that is closed drops out by itself.
    /// False when the kernel refuses: the descriptor isn't open, or there is no memory.
    package func watch(_ descriptor: Int32, for interest: Interest) -> Bool {
        var event = epoll_event(events: interest.rawValue, data: epoll_data(fd: descriptor))
        if epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event) == 0 { return true }
        return errno == EEXIST && epoll_ctl(poller, EPOLL_CTL_MOD, descriptor, &event) == 0
    }

    /// The handler rests until ``resume()``. Calls balance.
    package func suspend() {
        source.suspend()
    }

    package func resume() {
        source.resume()
    }

    /// The handler doesn't run any more once this returns (on the source's own queue). To be balanced by then: Dispatch
    /// never lets go of a suspended source.
    package func cancel() {
        source.cancel()
    }
}
