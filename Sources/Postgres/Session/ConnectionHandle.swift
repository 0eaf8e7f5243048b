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

    /// Takes what has come. To be called when the socket is readable.
    ///
    /// - Returns: Whether the connection is alive.
    func consumeInput() -> Bool {
        repeat {
            // Fails at the end of the input: what a peer that has hung up left behind is finite.
            guard PQconsumeInput(pointer) == 1 else { return false }
        } while SocketSource.hasHungUp(PQsocket(pointer))
        return true
    }

    deinit {
        // Every source watches a duplicate of the socket, so closing it here disturbs none.
        PQfinish(pointer)
    }
}
