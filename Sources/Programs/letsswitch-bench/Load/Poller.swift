import Basics
import CLinux
import Glibc

/// The generator's epoll descriptor. It reports the readable sockets by the numbers with which they were added.
struct Poller: ~Copyable {
    private static let capacity = 1024
    private let descriptor: Int32
    private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Poller.capacity)

    init() throws(BenchFailure) {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw BenchFailure(call: "epoll_create1") }
    }

    deinit {
        events.deallocate()
        close(descriptor)
    }

    /// Watches a socket until it is closed. The watch is level-triggered.
    func add(_ socket: Int32, number: Int) throws(BenchFailure) {
        var interest = epoll_event(events: EPOLLIN.rawValue, data: epoll_data(u64: UInt64(number)))
        guard epoll_ctl(descriptor, EPOLL_CTL_ADD, socket, &interest) == 0 else {
            throw BenchFailure(call: "epoll_ctl")
        }
    }

    /// Waits until a socket is readable, for at most `milliseconds`. Returns the number of readable sockets.
    @inline(__always)
    func wait(milliseconds: Int32) throws(BenchFailure) -> Int {
        let count = epoll_wait(descriptor, events, Int32(Self.capacity), milliseconds)
        guard count >= 0 || errno == EINTR else { throw BenchFailure(call: "epoll_wait") }
        return Int(max(0, count))
    }

    /// Waits until a socket is readable, or until `instant` with an accuracy of about 50 µs. Returns the number of
    /// readable sockets.
    func wait(until instant: MonotonicTime) throws(BenchFailure) -> Int {
        let left = max(.zero, instant - .now()).components
        var timeout = timespec(tv_sec: Int(left.seconds), tv_nsec: Int(left.attoseconds / 1_000_000_000))
        let count = epoll_pwait2(descriptor, events, Int32(Self.capacity), &timeout, nil)
        guard count >= 0 || errno == EINTR else { throw BenchFailure(call: "epoll_pwait2") }
        return Int(max(0, count))
    }

    /// The number of the readable socket at `index`.
    @inline(__always)
    subscript(index: Int) -> Int { Int(events[index].data.u64) }
}
