/// Who gathers work during a turn of the event loop, to do it at its end, once for all. See ``Reactor``.
package protocol TurnEndHandler: AnyObject {
    /// The sockets have been served; what is enqueued now still leaves in this turn. Asking for another call from here
    /// has no effect. On the loop.
    func turnEnds()
}
