/// An object with a descriptor that a ``Reactor`` polls.
///
/// A base class instead of a protocol: the reactor keeps one word per descriptor, and a call is one table lookup.
package class Pollable {
    /// The descriptor. It is valid until the end of the turn in which it is removed from the reactor.
    let descriptor: CInt

    init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    /// Handles events of the kernel (`EPOLLIN`, …). On the loop.
    func ready(_ events: UInt32) {}

    /// Handles a deadline that was set with ``Reactor/setDeadline(_:for:)``. On the loop.
    func deadlinePassed(_ deadline: CoarseInstant) {}

    /// Releases the descriptor, because the loop stops. On the loop.
    func loopStops() {}
}

/// An object that gathers work during a turn of the event loop and performs it at the end. See ``Reactor``.
package protocol TurnEndHandler: AnyObject {
    /// Performs the gathered work. Bytes that it enqueues still leave in this turn. It may request another call, which
    /// happens in this turn if possible. On the loop.
    func turnEnds()
}
