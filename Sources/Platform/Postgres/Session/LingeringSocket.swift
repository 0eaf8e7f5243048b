import Dispatch
import Glibc

/// A duplicate of a closed connection's socket, open until the server closes its end too, because a backend ends before
/// its socket. Confined to its queue.
///
/// libpq says goodbye and closes its own descriptor. Bytes from the server are discarded.
final class LingeringSocket {
    private let descriptor: Int32
    private let readiness: ReadinessSource
    private let onEnd: @Sendable () -> Void
    private var hasEnded = false

    /// nil if no descriptor is left, or the connection has no socket any more. `onEnd` is called once, on the queue.
    init?(_ socket: Int32, queue: DispatchQueue, onEnd: @escaping @Sendable () -> Void) {
        let descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return nil }
        let box = WeakBox()
        guard let readiness = ReadinessSource(queue: queue, handler: { box.socket?.drain() }),
            readiness.watch(descriptor, for: .read)
        else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        self.readiness = readiness
        self.onEnd = onEnd
        box.socket = self
    }

    deinit {
        readiness.cancel()
        close(descriptor)
    }

    /// Ends our side, after libpq has closed its own descriptor. A busy server then notices that the client has gone
    /// (`client_connection_check_interval`).
    func hangUp() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    private func drain() {
        guard !hasEnded else { return }
        let ended = withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
            // Bounded, so that a lot of data delays no other work. The rest is reported again.
            for _ in 0..<64 {
                let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
                if count > 0 || (count < 0 && errno == EINTR) { continue }
                return count == 0 || errno != EAGAIN
            }
            return false
        }
        guard ended else { return }
        hasEnded = true
        readiness.cancel()
        onEnd()
    }

    /// `@unchecked Sendable` is safe because it is written before any other code has it, and then read only on the
    /// queue.
    private final class WeakBox: @unchecked Sendable {
        weak var socket: LingeringSocket?
    }
}
