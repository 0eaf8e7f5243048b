import Dispatch
import Glibc

/// A duplicate of a closed connection's socket. It stays open until the server closes its end, because the backend
/// process ends before its socket. The object is used only on its queue.
///
/// libpq has ended the session and closed its own descriptor. Bytes from the server are discarded.
final class LingeringSocket {
    private let descriptor: Int32
    private let readiness: ReadinessSource
    private let onEnd: @Sendable () -> Void
    private var hasEnded = false

    /// Returns `nil` if the process has no descriptor left, or the connection has no socket any more. `onEnd` is called
    /// once, on the queue.
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

    /// Shuts down this side, after libpq has closed its own descriptor. A busy server then notices that the client has
    /// gone (`client_connection_check_interval`).
    func hangUp() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    private func drain() {
        guard !hasEnded else { return }
        let ended = withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
            // The number of reads is bounded, so that much data doesn't delay other work. If data is left, the handler
            // is called again.
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

    /// `@unchecked Sendable` is safe because the box is written before any other code has it. Afterwards it is only
    /// read, on the queue.
    private final class WeakBox: @unchecked Sendable {
        weak var socket: LingeringSocket?
    }
}
