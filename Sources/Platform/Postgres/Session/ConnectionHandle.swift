import CLibpq

/// Owns a `PGconn`, and finishes it when the last reference goes, whatever way the opening of a connection ended.
///
/// `@unchecked Sendable` holds because it only travels: the attempt that opened the connection keeps nothing of it, and
/// the one actor that receives it is the only one to use `pointer` from then on.
final class ConnectionHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        PQfinish(pointer)
    }
}
