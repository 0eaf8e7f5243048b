/// Something with a descriptor that a ``Reactor`` polls.
///
/// A base class and not a protocol: the reactor keeps one word per descriptor, and a call is one look-up in a table.
package class Pollable {
    /// The descriptor. It stays valid until the end of the turn in which the reactor was told to forget it.
    let descriptor: CInt

    init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    /// The kernel reports `events` (`EPOLLIN`, …). Called on the loop.
    func ready(_ events: UInt32) {}

    /// The deadline that was set with ``Reactor/setDeadline(_:for:)`` came. Called on the loop.
    func deadlinePassed(_ deadline: CoarseInstant) {}

    /// The loop stops: let go of the descriptor now. Called on the loop.
    func loopStops() {}
}

/// Who gathers work during a turn of the event loop, to do it at its end, once for all. See ``Reactor``.
package protocol TurnEndHandler: AnyObject {
    /// The sockets have been served; what is enqueued now still leaves in this turn. Who asks for another call from here
    /// gets it, within this turn as far as it goes. On the loop.
    func turnEnds()
}
