package import Basics
package import Sockets

/// What the rooms need of the loop that they are on: an event loop's reactor, or a test's clock.
package protocol RoomLoop: AnyObject {
    var now: MonotonicTime { get }
    /// Has ``TurnEndHandler/turnEnds()`` called once at the end of this turn.
    func callAtEndOfTurn(_ handler: any TurnEndHandler)
    /// Calls `action` once, on the loop.
    func call(after delay: Duration, _ action: @escaping () -> Void)
}

extension Reactor: RoomLoop {
    package func call(after delay: Duration, _ action: @escaping () -> Void) {
        schedule(after: delay, action)
    }
}
