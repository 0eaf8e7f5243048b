/// The protocol that is spoken over a ``StreamSocket``. All calls come on the socket's loop.
package protocol StreamSocketHandler: AnyObject {
    /// Bytes arrived. The memory is the loop's receive buffer: the handler may write to it, and has it until it returns.
    func socket(_ socket: StreamSocket, received bytes: UnsafeMutableRawBufferPointer)

    /// The peer sends no more. It may still read.
    func socketReceivedEnd(_ socket: StreamSocket)

    /// All that was enqueued is with the kernel. Called only while ``StreamSocket/reportsDrain`` is set.
    func socketDidDrain(_ socket: StreamSocket)

    /// So much of what was enqueued, and may be left out, was: more waited than may.
    func socket(_ socket: StreamSocket, leftOut count: Int)

    /// ``StreamSocket/deadline`` passed. It is `distantFuture` again.
    func socketDeadlinePassed(_ socket: StreamSocket)

    /// The socket is gone, and no call follows. Not called after ``StreamSocket/finish()`` or
    /// ``StreamSocket/detach()``, where the handler itself lets go.
    func socketDidClose(_ socket: StreamSocket, because cause: StreamSocket.CloseCause)

    /// The server goes away: say goodbye, and finish soon.
    func serverStops(_ socket: StreamSocket)
}

extension StreamSocketHandler {
    package func socket(_ socket: StreamSocket, leftOut count: Int) {}
}
