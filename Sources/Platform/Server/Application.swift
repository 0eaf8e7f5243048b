package import Sockets
import Synchronization

/// A server: event loops, the sockets that listen, what answers.
///
/// ```
/// ListeningSocket ─► connections dealt to the loops in turn ─► HTTPConnection ─► Responder ─► handlers
/// ```
///
/// Life: ``init(on:limits:edge:tls:responder:)``, ``listen(on:)``, ``drain(within:)``, ``stop()``.
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

    /// Makes a server; it listens once ``listen(on:)`` is called.
    ///
    /// - Parameters:
    ///   - group: The event loops that serve its connections; the server starts and stops them.
    ///   - limits: What its peers may take.
    ///   - edge: Whom it believes about who they are.
    ///   - tls: With what its TLS endpoints shake hands, until ``replaceTLS(_:)``.
    ///   - responder: What answers its requests.
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

    /// Connections open now, of every kind. From any thread.
    package var openConnections: Int { openSockets.current }

    /// Whether it was told to take no new connections. From any thread.
    package internal(set) var isDraining: Bool {
        get { hasBegunDrain.load(ordering: .relaxed) }
        set { hasBegunDrain.store(newValue, ordering: .relaxed) }
    }

    /// Lets the server's connections end: no new ones, WebSockets are closed with 1001, streams end, requests in hand
    /// are answered.
    ///
    /// - Returns: Whether all of them had ended before `limit` was over.
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

    /// Ends all service at once: what is left is closed.
    package func stop() async {
        for loop in loops { await loop.stop() }
    }

    // MARK: For the connections

    /// The server's state on a loop. On that loop.
    package func server(on reactor: Reactor) -> ServerShard {
        key.value(on: reactor) { ServerShard(self, on: loops[reactor.index]) }
    }

    /// The loop that a route wants; `nil` when it doesn't mind, or there is only one: then it isn't asked.
    func loop(_ index: @autoclosure () -> Int?) -> EventLoop? {
        guard loops.count > 1 else { return nil }
        return index().map { loops[Int($0.magnitude % UInt(loops.count))] }
    }

    /// Whether the connection that was accepted last, which counts already, is one too many.
    var isFull: Bool { openConnections > limits.maxConnections }
}
