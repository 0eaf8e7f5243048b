import Dispatch

/// The handle of an event loop, for any thread.
///
/// A loop is a serial Dispatch queue that owns an epoll descriptor. Everything on the loop (sockets, timers, the
/// protocols above them) is reached through its ``Reactor`` and isn't `Sendable`, so the compiler keeps it there. Other
/// threads enter with ``submit(_:)`` or ``run(_:)``, which pass the reactor.
///
/// The actor contains a plain class for speed. Sockets, parsers and rooms call each other synchronously, without an
/// isolation check at run time. The check happens once per wake-up, when the queue enters the actor.
package actor EventLoop {
    /// The index of the loop in its application, from 0.
    package nonisolated let index: Int
    private nonisolated let executor: LoopExecutor
    private let reactor: Reactor
    private var wakeUps: (any DispatchSourceRead)?

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Makes a loop that runs after ``start()``.
    ///
    /// - Parameters:
    /// - index: The index of the loop in its application.
    /// - openSockets: The count of open sockets, shared by the application's loops.
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
        // Dispatch uses the descriptor until the source is cancelled. The reactor must live until then.
        source.setCancelHandler { withExtendedLifetime(self) {} }
        source.resume()
        wakeUps = source
    }

    /// Stops for good: closes every socket and drops all timers. Idempotent.
    package func stop() {
        wakeUps?.cancel()
        wakeUps = nil
        reactor.closeAll()
    }

    /// Performs `work` on the loop, later, in the order of submission. From any thread.
    package nonisolated func submit(_ work: @escaping @Sendable (Reactor) -> Void) {
        executor.submit {
            self.assumeIsolated { loop in
                loop.reactor.performTurn(work)
            }
        }
    }

    /// Performs `work` on the loop and returns its result. From any task.
    package func run<Result: Sendable>(_ work: @Sendable (Reactor) throws -> Result) rethrows -> Result {
        try reactor.performTurn(work)
    }
}

/// The event loops of an application, and their shared count of sockets.
package struct EventLoopGroup: Sendable {
    package let loops: [EventLoop]
    package let openSockets = SocketCount()

    /// Makes `count` loops, at least one. Each runs after it is started.
    ///
    /// - Throws: ``SocketError`` if the kernel provides no epoll descriptors.
    package init(count: Int) throws {
        let openSockets = openSockets
        loops = try (0..<max(1, count)).map { try EventLoop(index: $0, openSockets: openSockets) }
    }
}

/// The key of a value that each event loop has its own instance of. The instance is made at first use.
///
/// Code above the sockets keeps state per loop this way, such as rooms and counters, without a lock. The key is
/// `Sendable`; a value can be reached only with a ``Reactor``.
package final class LoopLocal<Value: AnyObject>: Sendable {
    package init() {}

    /// Returns this loop's value, made by `make` at first use. On the loop. It searches a list, so call it once per
    /// connection, not per message.
    package func value(on reactor: Reactor, make: () -> Value) -> Value {
        let key = ObjectIdentifier(self)
        // There are only a few keys; hashing would take longer.
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
