import Basics
package import Sockets
import Synchronization

/// A server: event loops, listening sockets, and a responder.
///
/// ```
/// ListeningSocket ─► connections, dealt to the loops in turn ─► HTTPConnection ─► Responder ─► handlers
/// ```
///
/// Its life: ``init(on:limits:edge:tls:responder:)``, ``listen(on:)``, ``drain(within:)``, ``stop()``.
package final class Application: Sendable {
    package let limits: ServerLimits
    package let edge: EdgePolicy
    let responder: Responder
    package let loops: [EventLoop]
    let addresses: AddressLimiter
    private let key = LoopLocal<ServerShard>()
    private let openSockets: SocketCount
    let firstTLSContext: TLSContext?
    private let hasBegunDrain = Atomic<Bool>(false)
    /// The monotonic time of the next report of a refused host, in nanoseconds. Anybody can ask for any host.
    private let hostReportDue = Atomic<UInt64>(0)

    /// Makes a server, which listens after ``listen(on:)``.
    ///
    /// - Parameters:
    /// - group: The event loops of its connections. The server starts and stops them.
    /// - limits: The limits of its peers.
    /// - edge: The rules for proxies, host names and origins.
    /// - tls: The certificate of its TLS endpoints, until ``replaceTLS(_:)``.
    /// - responder: The handler of its requests.
    package init(
        on group: EventLoopGroup, limits: ServerLimits, edge: EdgePolicy = EdgePolicy(),
        tls: TLSContext? = nil, responder: Responder
    ) {
        self.limits = limits
        self.edge = edge
        firstTLSContext = tls
        self.responder = responder
        addresses = AddressLimiter(AddressAllowance(limits))
        loops = group.loops
        openSockets = group.openSockets
    }

    /// Returns whether a refused host may be reported now: once a minute, on all loops together.
    func mayReportRefusedHost(at now: MonotonicTime) -> Bool {
        let due = hostReportDue.load(ordering: .relaxed)
        guard now.nanoseconds >= due else { return false }
        let next = (now + .seconds(60)).nanoseconds
        return hostReportDue.compareExchange(expected: due, desired: next, ordering: .relaxed).exchanged
    }

    /// The number of open connections of every kind. From any thread.
    package var openConnections: Int { openSockets.current }

    /// Whether it has stopped accepting connections. From any thread.
    package internal(set) var isDraining: Bool {
        get { hasBegunDrain.load(ordering: .relaxed) }
        set { hasBegunDrain.store(newValue, ordering: .relaxed) }
    }

    /// Ends the server's connections gracefully: it accepts no new ones, closes WebSockets with 1001, ends streams, and
    /// answers the current requests.
    ///
    /// - Returns: Whether all connections ended within `limit`.
    @discardableResult
    package func drain(within limit: Duration) async -> Bool {
        await loops[0].run { self.server(on: $0).stopListening() }
        for loop in loops {
            await loop.run { reactor in
                self.server(on: reactor).isStopping = true
                reactor.forEachSocket { $0.announceStop() }
            }
        }
        return await openSockets.waitUntilZero(within: limit)
    }

    /// Stops at once. Remaining connections are closed.
    package func stop() async {
        for loop in loops { await loop.stop() }
    }

    // MARK: For the connections

    /// Returns the server's state on a loop. On that loop.
    package func server(on reactor: Reactor) -> ServerShard {
        key.value(on: reactor) { ServerShard(self, on: loops[reactor.index]) }
    }

    /// Returns the loop that a route requires; `nil` if it requires none, or there is only one loop.
    func loop(_ index: @autoclosure () -> Int?) -> EventLoop? {
        guard loops.count > 1 else { return nil }
        return index().map { loops[Int($0.magnitude % UInt(loops.count))] }
    }

    /// Whether the last accepted connection, which is already counted, exceeds the limit.
    var isFull: Bool { openConnections > limits.maxConnections }
}
