/// An object with a descriptor that a ``Reactor`` polls.
///
/// This is a base class and not a protocol: the reactor then stores only one word per descriptor, and a call needs only
/// one table lookup.
package class Pollable {
    /// The descriptor. It is valid until the end of the turn in which it is removed from the reactor.
    let descriptor: CInt

    init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    /// Handles events of the kernel, such as `EPOLLIN`. Called on the loop.
    func ready(_ events: UInt32) {}

    /// Handles a deadline that was set with ``Reactor/setDeadline(_:for:)``. Called on the loop.
    func deadlinePassed(_ deadline: CoarseInstant) {}

    /// Releases the descriptor, because the loop stops. Called on the loop.
    func loopStops() {}
}

/// An object that gathers work during a turn of the event loop and performs it at the turn's end. See ``Reactor``.
package protocol TurnEndHandler: AnyObject {
    /// Performs the gathered work. Bytes that it enqueues are still sent in this turn. The object may request another
    /// call, which happens in this turn if possible. Called on the loop.
    func turnEnds()
}
