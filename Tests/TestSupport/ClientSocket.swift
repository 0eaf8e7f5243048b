import Dispatch
import Glibc

/// A non-blocking socket with a gate for each direction. Owns the descriptor: it is closed once, when neither Dispatch
/// source can look at it any more.
///
/// `@unchecked Sendable`: used on the clients' queue only (see `ReadinessGate`).
final class ClientSocket: @unchecked Sendable {
    let descriptor: Int32
    let readable: ReadinessGate
    let writable: ReadinessGate
    private var openGates = 2

    init(descriptor: Int32, queue: DispatchQueue) {
        self.descriptor = descriptor
        readable = ReadinessGate(
            source: DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue), queue: queue)
        writable = ReadinessGate(
            source: DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue), queue: queue)
    }

    /// Not to be called twice. Waits under way end with `.closed`; `completion` runs when the descriptor is closed.
    func close(completion: @escaping @Sendable () -> Void) {
        for gate in [readable, writable] {
            gate.close { [self] in
                openGates -= 1
                guard openGates == 0 else { return }
                // Nothing is written buffered here, and Linux frees the descriptor whatever `close` answers.
                _ = Glibc.close(descriptor)
                completion()
            }
        }
    }
}
