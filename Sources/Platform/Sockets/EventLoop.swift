import Dispatch

/// The handle of one event loop: what any thread may hold, and the way in.
///
/// A loop is a serial Dispatch queue that owns an epoll descriptor. All that lives on the loop (sockets, timers, the
/// protocols above them) is reachable from its ``Reactor`` alone and is not `Sendable`, so that the compiler refuses
/// to let it leave. From outside one enters by ``submit(_:)`` or ``run(_:)``; both hand out the reactor.
///
/// Why an actor around a plain class, and not one of the two: calls between sockets, parsers and rooms are ordinary
/// synchronous calls between ordinary objects, with no isolation check at run time on any of them; the check is paid
/// once per wake-up, where the queue enters the actor.
package actor EventLoop {
    /// The loop's place among its application's loops, from 0.
    package nonisolated let index: Int
    private nonisolated let executor: LoopExecutor
    private let reactor: Reactor
    private var wakeUps: (any DispatchSourceRead)?

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Makes a loop that runs once ``start()`` was called.
    ///
    /// - Parameters:
    ///   - index: The loop's place among its application's loops.
    ///   - openSockets: Where this loop counts its sockets, shared with the application's other loops.
    /// - Throws: ``SocketError`` when the kernel gives no epoll or timer descriptor.
    package init(index: Int, openSockets: SocketCount) throws {
        self.index = index
        executor = try LoopExecutor(label: "event-loop.\(index)")
        reactor = try Reactor(index: index, executor: executor, openSockets: openSockets)
    }

    /// Begins to serve sockets and timers, until ``stop()``, which must follow: the loop holds itself. Idempotent.
    package func start() {
        guard wakeUps == nil else { return }
        let source = DispatchSource.makeReadSource(fileDescriptor: reactor.pollDescriptor, queue: executor.queue)
        source.setEventHandler {
            self.assumeIsolated { $0.reactor.serveReadySockets() }
        }
        // Dispatch looks at the descriptor until the source's cancellation is through: until then the reactor has to live.
        source.setCancelHandler { withExtendedLifetime(self) {} }
        source.resume()
        wakeUps = source
    }

    /// Ends all service for good: every socket left is closed, timers are forgotten. Idempotent.
    package func stop() {
        wakeUps?.cancel()
        wakeUps = nil
        reactor.closeAll()
    }

    /// Does `work` on the loop, later, in the order of submission. From any thread.
    package nonisolated func submit(_ work: @escaping @Sendable (Reactor) -> Void) {
        executor.submit {
            self.assumeIsolated { loop in
                loop.reactor.performTurn(work)
            }
        }
    }

    /// Does `work` on the loop and gives back its result. From any task.
    package func run<Result: Sendable>(_ work: @Sendable (Reactor) throws -> Result) rethrows -> Result {
        try reactor.performTurn(work)
    }
}

/// The event loops of one application, and the count of sockets that they share.
package struct EventLoopGroup: Sendable {
    package let loops: [EventLoop]
    package let openSockets = SocketCount()

    /// Makes `count` loops, at least one; they run once each is started.
    ///
    /// - Throws: ``SocketError`` when the kernel gives no pollers.
    package init(count: Int) throws {
        let openSockets = openSockets
        loops = try (0..<max(1, count)).map { try EventLoop(index: $0, openSockets: openSockets) }
    }
}

/// The key of a value that every event loop has its own of, made when the loop first asks for it.
///
/// This is how code above the sockets keeps state per loop (the rooms of that loop, its counters) without a lock and
/// without sharing: the key is `Sendable`, the value is reachable only with a ``Reactor`` in hand.
package final class LoopLocal<Value: AnyObject>: Sendable {
    package init() {}

    /// This loop's value, made by `make` if there is none yet. On the loop. It is looked for: once per connection, not per
    /// message.
    package func value(on reactor: Reactor, make: () -> Value) -> Value {
        let key = ObjectIdentifier(self)
        // A handful: hashing the key would take longer.
        if let index = reactor.locals.firstIndex(where: { $0.key == key }),
            let value = reactor.locals[index].value as? Value
        {
            return value
        }
        let value = make()
        reactor.locals.append((key, value))
        return value
    }
}
