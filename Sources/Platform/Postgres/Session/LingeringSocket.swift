import Dispatch
import Glibc

/// A connection's socket after we have hung up, until the server has too: its process ends before its side of the socket does.
/// Confined to its queue.
///
/// It is a duplicate, so that libpq says goodbye and closes its own. What the server still sends is thrown away.
final class LingeringSocket {
    private let descriptor: Int32
    private let readiness: ReadinessSource
    private let onEnd: @Sendable () -> Void
    private var hasEnded = false

    /// nil when no descriptor is left, or the connection has no socket any more. `onEnd` is called on the queue, once.
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

    /// To be called once libpq has closed its own: sends the end of our side, so that a server that is busy for us notices that
    /// nobody is there (`client_connection_check_interval`).
    func hangUp() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    private func drain() {
        guard !hasEnded else { return }
        let ended = withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 1) { buffer in
            // Bounded, so that much that is left holds up nobody: what remains is reported again.
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

    /// `@unchecked Sendable` holds because it is read on the queue alone, and written before anybody else has it.
    private final class WeakBox: @unchecked Sendable {
        weak var socket: LingeringSocket?
    }
}
