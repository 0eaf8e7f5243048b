import Dispatch

/// The handle of an event loop. Any thread may use it.
///
/// A loop is a serial Dispatch queue that owns an epoll descriptor. Everything on the loop (sockets, timers, and the
/// protocols above them) is reached through its ``Reactor``. None of it is `Sendable`, so the compiler keeps it on the
/// loop. Other threads use ``submit(_:)`` or ``run(_:)``, which pass the reactor to a closure.
///
/// The actor contains a plain class for speed. Sockets, parsers and rooms call each other synchronously, without a
/// check of the isolation at run time. The check happens only once per wake-up, when the queue enters the actor.
package actor EventLoop {
    /// The index of the loop in its application, counted from 0.
    package nonisolated let index: Int
    private nonisolated let executor: LoopExecutor
    private let reactor: Reactor
    private var wakeUps: (any DispatchSourceRead)?

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Makes a loop. It runs after ``start()``.
    ///
    /// - Parameters:
    ///   - index: The index of the loop in its application.
    ///   - openSockets: The count of open sockets, shared by the application's loops.
    /// - Throws: ``SocketError`` if the kernel provides no epoll or timer descriptor.
    package init(index: Int, openSockets: SocketCount) throws {
        self.index = index
        executor = try LoopExecutor(label: "event-loop.\(index)")
        reactor = try Reactor(index: index, executor: executor, openSockets: openSockets)
    }

    /// Starts to serve sockets and timers. ``stop()`` must follow, because the loop holds a reference to itself.
    /// Idempotent.
    package func start() {
        guard wakeUps == nil else { return }
        let source = DispatchSource.makeReadSource(fileDescriptor: reactor.pollDescriptor, queue: executor.queue)
        source.setEventHandler {
            self.assumeIsolated { $0.reactor.serveReadySockets() }
        }
        // Dispatch uses the descriptor until the source is cancelled, so the reactor has to exist as long as the
        // source.
        source.setCancelHandler { withExtendedLifetime(self) {} }
        source.resume()
        wakeUps = source
    }

    /// Stops the loop permanently: closes every socket and drops all timers. Idempotent.
    package func stop() {
        wakeUps?.cancel()
        wakeUps = nil
        reactor.closeAll()
    }

    /// Performs `work` on the loop later. The order of the submissions is kept. Any thread may call it.
    package nonisolated func submit(_ work: @escaping @Sendable (Reactor) -> Void) {
        executor.submit {
            self.assumeIsolated { loop in
                loop.reactor.performTurn(work)
            }
        }
    }

    /// Performs `work` on the loop and returns its result. Any task may call it.
    package func run<Result: Sendable>(_ work: @Sendable (Reactor) throws -> Result) rethrows -> Result {
        try reactor.performTurn(work)
    }
}

/// The event loops of an application, with their shared count of open sockets.
package struct EventLoopGroup: Sendable {
    package let loops: [EventLoop]
    package let openSockets = SocketCount()

    /// Makes `count` loops, at least one. The caller has to start them.
    ///
    /// - Throws: ``SocketError`` if the kernel provides no epoll descriptors.
    package init(count: Int) throws {
        let openSockets = openSockets
        loops = try (0..<max(1, count)).map { try EventLoop(index: $0, openSockets: openSockets) }
    }
}

/// The key of a value of which each event loop has its own instance. The instance is made when it is first used.
///
/// Code above the sockets keeps its state per loop in such values, for example rooms and counters. This state needs no
/// lock. The key is `Sendable`, but a value can be reached only with a ``Reactor``.
package final class LoopLocal<Value: AnyObject>: Sendable {
    package init() {}

    /// Returns this loop's value. At the first use, `make` creates it. Must be called on the loop. The call searches a
    /// list, so call it once per connection, not per message.
    package func value(on reactor: Reactor, make: () -> Value) -> Value {
        let key = ObjectIdentifier(self)
        // The list has only a few keys, so a search is faster than hashing.
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
