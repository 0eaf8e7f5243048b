import Basics
import CLinux
import Glibc

/// A wait of a connection's thread.
enum DescriptorWait {
    private static let withoutWakeUp: Duration = .milliseconds(50)

    /// Waits until a descriptor is readable, `writable` is writable, or the deadline has passed; it may return earlier.
    /// Negative descriptors are ignored.
    ///
    /// - Returns: Whether `writable` is writable or has failed.
    @discardableResult
    static func wait(readable: [Int32], writable: Int32 = -1, until deadline: MonotonicTime) -> Bool {
        // Without a wake-up descriptor, because none is left, the wait is short.
        let deadline = readable.contains { $0 < 0 } ? min(deadline, .now() + withoutWakeUp) : deadline
        var descriptors = readable.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        descriptors.append(pollfd(fd: writable, events: Int16(POLLOUT), revents: 0))
        _ = poll(&descriptors, nfds_t(descriptors.count), Int32(clamping: (deadline - .now()).wholeMilliseconds))
        return descriptors[descriptors.count - 1].revents != 0
    }
}

/// Wakes a thread that waits for it among other descriptors. From any thread.
final class WakeUp: Sendable {
    /// Negative if no descriptor was left.
    let descriptor = eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC))

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func signal() {
        var one: UInt64 = 1
        // Fails only if it is already signalled.
        _ = write(descriptor, &one, 8)
    }

    /// Resets it. Call it before reading the announced work.
    func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
