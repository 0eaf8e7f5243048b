package import Basics
package import Sockets

/// The services that rooms need from their loop: an event loop's reactor, or a test's clock.
package protocol RoomLoop: AnyObject {
    var now: MonotonicTime { get }
    /// Calls ``TurnEndHandler/turnEnds()`` once at the end of this turn.
    func callAtEndOfTurn(_ handler: any TurnEndHandler)
    /// Calls `action` once, on the loop.
    func call(after delay: Duration, _ action: @escaping () -> Void)
}

extension Reactor: RoomLoop {
    package func call(after delay: Duration, _ action: @escaping () -> Void) {
        schedule(after: delay, action)
    }
}
