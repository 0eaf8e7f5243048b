import CLibpq

/// The owner of a `PGconn`. The connection is closed when the last reference is released.
///
/// `@unchecked Sendable` is safe because the handle has one user at a time. The attempt that opened the connection
/// keeps no reference. After it, only the receiving actor uses `pointer`.
final class ConnectionHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        PQfinish(pointer)
    }
}
