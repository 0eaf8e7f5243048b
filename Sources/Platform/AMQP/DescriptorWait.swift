import Basics
import CLinux
import Glibc

/// A wait of a connection's thread.
enum DescriptorWait {
    private static let withoutWakeUp: Duration = .milliseconds(50)

    /// Waits until one of the descriptors `readable` is readable, `writable` is writable, or the deadline has passed.
    /// The call may return earlier. Negative descriptors are ignored.
    ///
    /// - Returns: Whether `writable` is writable or has failed.
    @discardableResult
    static func wait(readable: [Int32], writable: Int32 = -1, until deadline: MonotonicTime) -> Bool {
        // A wake-up descriptor is negative if the process had no descriptor left. The wait is then short, because
        // nothing can end it early.
        let deadline = readable.contains { $0 < 0 } ? min(deadline, .now() + withoutWakeUp) : deadline
        var descriptors = readable.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        descriptors.append(pollfd(fd: writable, events: Int16(POLLOUT), revents: 0))
        _ = poll(&descriptors, nfds_t(descriptors.count), Int32(clamping: (deadline - .now()).wholeMilliseconds))
        return descriptors[descriptors.count - 1].revents != 0
    }
}

/// Wakes a thread that waits for this descriptor among others. Any thread may call it.
final class WakeUp: Sendable {
    /// The descriptor, or a negative number if the process had no descriptor left.
    let descriptor = eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC))

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func signal() {
        var one: UInt64 = 1
        // `write` fails only if the descriptor is already readable.
        _ = write(descriptor, &one, 8)
    }

    /// Resets the descriptor. Call this before taking the work that the wake-up announced.
    func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
