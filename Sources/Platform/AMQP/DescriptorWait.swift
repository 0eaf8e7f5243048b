import Basics
import CLinux
import Glibc

/// What a thread of a connection waits for.
enum DescriptorWait {
    private static let withoutWakeUp: Duration = .milliseconds(50)

    /// Until one of the descriptors can be read, `writable` can be written, or the time is over; perhaps earlier. A negative
    /// descriptor is one that there isn't.
    ///
    /// - Returns: Whether `writable` can be written, or has failed.
    @discardableResult
    static func wait(readable: [Int32], writable: Int32 = -1, until deadline: MonotonicTime) -> Bool {
        // What would wake us can't be made, as long as there are no descriptors.
        let deadline = readable.contains { $0 < 0 } ? min(deadline, .now() + withoutWakeUp) : deadline
        var descriptors = readable.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        descriptors.append(pollfd(fd: writable, events: Int16(POLLOUT), revents: 0))
        _ = poll(&descriptors, nfds_t(descriptors.count), Int32(clamping: (deadline - .now()).wholeMilliseconds))
        return descriptors[descriptors.count - 1].revents != 0
    }
}

/// Wakes a thread that waits for it among other descriptors; from any thread.
final class WakeUp: Sendable {
    /// Negative if there was none left.
    let descriptor = eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC))

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    func signal() {
        var one: UInt64 = 1
        // It fails only if it is signalled already.
        _ = write(descriptor, &one, 8)
    }

    /// Before what it stands for is looked at.
    func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
