import CLibpq

/// Asks a server to cancel what a connection runs.
///
/// `@unchecked Sendable` holds because a `PGcancel` is a copy of the connection's address and key that `PQcancel` only
/// reads and any thread may use (PostgreSQL 15 manual, 34.7).
final class CancelRequest: @unchecked Sendable {
    private let request: OpaquePointer

    init?(_ connection: OpaquePointer) {
        guard let request = PQgetCancel(connection) else { return nil }
        self.request = request
    }

    deinit {
        PQfreeCancel(request)
    }

    /// Blocks until the server has taken the request, or can't be reached: as long as the kernel's time-outs for a
    /// connection (libpq 15 has none of its own here), on a thread where nobody waits. Nothing is to be done when it fails: the
    /// connection is closed anyway, and the server has limits of its own.
    func send() {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
            _ = PQcancel(request, message.baseAddress, Int32(message.count))
        }
    }
}
