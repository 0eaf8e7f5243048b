import CLibpq

/// Owns a `PGconn`, and closes it with the last reference.
///
/// `@unchecked Sendable` is safe because it has one user at a time: the attempt that opened the connection keeps
/// nothing of it, and then only the receiving actor uses `pointer`.
final class ConnectionHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        PQfinish(pointer)
    }
}
