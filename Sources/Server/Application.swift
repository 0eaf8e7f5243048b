package import Sockets
import Synchronization
import Wire

/// A server: event loops, the sockets that listen, the routes.
///
/// ```
/// ListeningSocket ─► connections dealt to the loops in turn ─► HTTPConnection ─► Router ─► handlers
/// ```
///
/// Life: ``init(on:limits:edge:tls:mapError:routes:)``, ``listen(on:)``, ``drain(within:)``, ``stop()``.
package final class Application: Sendable {
    package let limits: ServerLimits
    package let edge: EdgePolicy
    package let loops: [EventLoop]
    let router: Router
    let addresses: AddressLimiter
    private let key = LoopLocal<ServerShard>()
    private let openSockets: SocketCount
    let firstTLSContext: TLSContext?
    /// Where handlers that wait for something run.
    let handlerExecutor: (any TaskExecutor)?
    private let mapError: @Sendable (any Error) -> Abort
    private let hasBegunDrain = Atomic<Bool>(false)

    /// Makes a server; it listens once ``listen(on:)`` is called.
    ///
    /// - Parameters:
    ///   - group: The event loops that serve its connections; the server starts and stops them.
    ///   - limits: What its peers may take.
    ///   - edge: Whom it believes about who they are.
    ///   - tls: With what its TLS endpoints shake hands, until ``replaceTLS(_:)``.
    ///   - handlerExecutor: Where handlers run that wait for something; `nil` for Swift's own threads. That of what they mostly
    ///     wait for saves two changes of thread a request.
    ///   - mapError: What a handler's error means to the client; an ``Abort`` speaks for itself and doesn't come here.
    ///   - audience: For whom the routes are that say nothing else.
    ///   - routes: Adds the routes.
    package init(
        on group: EventLoopGroup, limits: ServerLimits, edge: EdgePolicy = EdgePolicy(),
        tls: TLSContext? = nil, handlerExecutor: (any TaskExecutor)? = nil,
        mapError: @escaping @Sendable (any Error) -> Abort, audience: Audience = .everyone,
        routes: (RoutesBuilder) -> Void
    ) {
        self.limits = limits
        self.edge = edge
        firstTLSContext = tls
        self.handlerExecutor = handlerExecutor
        addresses = AddressLimiter(AddressAllowance(limits))
        self.mapError = mapError
        let builder = RoutesBuilder(for: audience)
        routes(builder)
        router = Router(routes: builder.routes)
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

    /// What the loops have counted, together.
    package func counters() async -> LoopCounters {
        var sum = LoopCounters()
        for loop in loops {
            sum = sum + (await loop.run { self.server(on: $0).counters })
        }
        return sum
    }

    /// Has new connections shake hands with another certificate. Those that are open keep theirs.
    package func replaceTLS(_ context: TLSContext) async {
        for loop in loops {
            await loop.run { self.server(on: $0).tls = context }
        }
    }

    /// Starts the loops and listens at each endpoint.
    ///
    /// - Returns: The endpoints, with the ports that the kernel chose where 0 was asked for.
    /// - Throws: ``SocketError``; then none of them is listened on.
    package func listen(on endpoints: [ServerEndpoint]) async throws -> [ServerEndpoint] {
        for loop in loops { await loop.start() }
        // All or none: what was bound before one fails is closed as it is let go.
        return try await loops[0].run { reactor in
            let listeners = try endpoints.map { try ListeningSocket($0.address) }
            let server = self.server(on: reactor)
            do {
                for (listener, endpoint) in zip(listeners, endpoints) {
                    try server.listen(with: listener, entrance: Entrance(endpoint, edge), on: reactor)
                }
            } catch {
                server.stopListening()
                throw error
            }
            return zip(listeners, endpoints).map {
                ServerEndpoint(
                    $0.address, speaksTLS: $1.speaksTLS, audience: $1.audience, isBehindProxies: $1.isBehindProxies)
            }
        }
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

    func respond(to request: Request, with handler: Route.AsyncHandler) async -> Response {
        do {
            return try await handler(request)
        } catch {
            return response(to: error)
        }
    }

    /// The refusal that `find` throws; `nil` when it throws none.
    func refusal(from find: @Sendable () async throws -> Void) async -> Response? {
        do {
            try await find()
            return nil
        } catch {
            return response(to: error)
        }
    }

    func response(to error: any Error) -> Response {
        Response(error as? Abort ?? mapError(error))
    }
}
