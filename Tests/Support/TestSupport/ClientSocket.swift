import Dispatch
import Glibc
import Postgres

/// A non-blocking socket with a gate for each direction. Owns the descriptor.
///
/// `@unchecked Sendable`: used on the clients' queue only (see `ReadinessGate`).
final class ClientSocket: @unchecked Sendable {
    let descriptor: Int32
    let readable: ReadinessGate
    let writable: ReadinessGate

    /// Takes over the descriptor, also if it throws because no descriptors are left.
    init(descriptor: Int32, queue: DispatchQueue) throws {
        do {
            readable = try ReadinessGate(descriptor, for: .read, queue: queue)
            writable = try ReadinessGate(descriptor, for: .write, queue: queue)
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    /// Closes the socket. Must be called once only. Waits in progress end with `.closed`.
    func close() {
        readable.close()
        writable.close()
        // No written data is buffered here, and Linux frees the descriptor even if `close` fails.
        _ = Glibc.close(descriptor)
    }
}
