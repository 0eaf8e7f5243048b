import CLibpq

/// The owner of a `PGconn`. The connection is closed when the last reference is released.
///
/// `@unchecked Sendable` is safe because only one actor or queue uses `pointer` at a time. ``PostgresSession`` opens
/// the connection, and keeps no reference after ``PostgresSession/release()``. From then on, only the actor that
/// received the handle uses `pointer`.
final class ConnectionHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        PQfinish(pointer)
    }
}
