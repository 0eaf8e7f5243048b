/// The protocol that is spoken over a ``StreamSocket``. All calls come on the socket's loop.
package protocol StreamSocketHandler: AnyObject {
    /// Handles received bytes. The memory is the loop's receive buffer. The handler may use it and write to it until
    /// this method returns.
    func socket(_ socket: StreamSocket, received bytes: UnsafeMutableRawBufferPointer)

    /// Reports that the peer sends no more bytes. The peer may still read.
    func socketReceivedEnd(_ socket: StreamSocket)

    /// Reports that the kernel has taken the whole queue. Called only while ``StreamSocket/reportsDrain`` is set.
    func socketDidDrain(_ socket: StreamSocket)

    /// Reports that `count` repetitions were left out because the queue exceeded its limit.
    func socket(_ socket: StreamSocket, leftOut count: Int)

    /// Reports that ``StreamSocket/deadline`` has passed. The deadline is `distantFuture` again.
    func socketDeadlinePassed(_ socket: StreamSocket)

    /// Reports that the socket is closed. No other call follows. This isn't called after ``StreamSocket/finish()`` or
    /// ``StreamSocket/detach()``, because the handler itself calls these.
    func socketDidClose(_ socket: StreamSocket, because cause: StreamSocket.CloseCause)

    /// Asks the handler to send a last message and to finish soon, because the server stops.
    func serverStops(_ socket: StreamSocket)
}

extension StreamSocketHandler {
    package func socket(_ socket: StreamSocket, leftOut count: Int) {}
}
