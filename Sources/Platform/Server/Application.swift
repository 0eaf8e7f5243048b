import Basics
package import Sockets
import Synchronization

/// A server: event loops, listening sockets, and a responder.
///
/// ```
/// ListeningSocket ─► connections, dealt to the loops in turn ─► HTTPConnection ─► Responder ─► handlers
/// ```
///
/// The order of calls is ``init(on:limits:edge:tls:responder:)``, ``listen(on:)``, ``drain(within:)``, ``stop()``.
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
    /// The monotonic time in nanoseconds before which no further refused host is reported. Reports are limited because
    /// any client can send any host name.
    private let hostReportDue = Atomic<UInt64>(0)

    /// Makes a server. It accepts connections after ``listen(on:)``.
    ///
    /// - Parameters:
    ///   - group: The event loops of the server's connections. The server starts and stops them.
    ///   - limits: The limits of the server's peers.
    ///   - edge: The rules for proxies, host names and origins.
    ///   - tls: The certificate of the TLS endpoints, until ``replaceTLS(_:)``.
    ///   - responder: The handler of the requests.
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

    /// Returns whether a refused host may be reported now. All loops together report one host per minute.
    func mayReportRefusedHost(at now: MonotonicTime) -> Bool {
        let due = hostReportDue.load(ordering: .relaxed)
        guard now.nanoseconds >= due else { return false }
        let next = (now + .seconds(60)).nanoseconds
        return hostReportDue.compareExchange(expected: due, desired: next, ordering: .relaxed).exchanged
    }

    /// The number of open connections of every kind. Any thread may read it.
    package var openConnections: Int { openSockets.current }

    /// Whether the server has stopped accepting connections. Any thread may read it.
    package internal(set) var isDraining: Bool {
        get { hasBegunDrain.load(ordering: .relaxed) }
        set { hasBegunDrain.store(newValue, ordering: .relaxed) }
    }

    /// Ends the server's connections gracefully. The server accepts no new connections, closes WebSockets with code
    /// 1001, ends streams, and answers the current requests.
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

    /// Stops without a drain, and closes the remaining connections.
    package func stop() async {
        for loop in loops { await loop.stop() }
    }

    // MARK: For the connections

    /// Returns the server's state on a loop. Must be called on that loop.
    package func server(on reactor: Reactor) -> ServerShard {
        key.value(on: reactor) { ServerShard(self, on: loops[reactor.index]) }
    }

    /// Returns the loop that a route requires. Returns `nil` if the route requires none, or if there is only one loop.
    func loop(_ index: @autoclosure () -> Int?) -> EventLoop? {
        guard loops.count > 1 else { return nil }
        return index().map { loops[Int($0.magnitude % UInt(loops.count))] }
    }

    /// Whether there are too many connections. The connection that was accepted last is already counted.
    var isFull: Bool { openConnections > limits.maxConnections }
}
