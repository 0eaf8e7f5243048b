import Basics
import Glibc
package import Sockets
import Wire

/// What the server keeps on one event loop: counters, the clock for `Date`, and the requests whose answers are awaited.
package final class ServerShard {
    package let loop: EventLoop
    package var counters = LoopCounters()
    let application: Application
    /// ``ServerLimits/pingInterval`` in nanoseconds: it is added to the time once per message.
    let pingInterval: UInt64
    /// ``ServerLimits/messageRate``.
    let messageRate: RateLimit
    /// The same allowance, out of which a fragment of a message takes less.
    let fragmentRate: RateLimit
    /// zlib's memory, for the WebSockets of this loop that keep none.
    let deflatePool = WebSocketDeflatePool()
    let handshakeDigest = HandshakeDigest()
    /// With what new connections shake hands; `nil` when nobody speaks TLS.
    var tls: TLSContext?
    /// Set when the server goes away: answers then close their connections.
    var isStopping = false

    /// Connections whose handlers run in a task. The task knows its ticket, not the connection, which is no business
    /// of other threads and may be gone when the answer comes.
    private var awaiting: [Ticket: HTTPConnection] = [:]
    private var lastTicket: UInt64 = 0
    private var dateSecond = 0
    private var dateLine: [UInt8] = []

    struct Ticket: Hashable, Sendable {
        fileprivate let number: UInt64
    }

    /// A ping without data, the same for every peer.
    let pingFrame: SharedBytes

    init(_ application: Application, on loop: EventLoop) {
        self.application = application
        self.loop = loop
        tls = application.firstTLSContext
        var ping: [UInt8] = []
        WebSocketFrameEncoder.encode(.ping, [], into: &ping)
        pingFrame = SharedBytes(ping)
        // The sum with any time of the clock's stays within 64 bits.
        pingInterval = min(application.limits.pingInterval.wholeNanoseconds, .max / 2)
        let rate = application.limits.messageRate
        messageRate = RateLimit(perSecond: rate, burst: 2 * rate)
        let fragments = rate * ServerLimits.fragmentsPerMessage
        fragmentRate = RateLimit(perSecond: fragments, burst: 2 * fragments)
    }

    // MARK: Hosts

    /// When the next refused host is told of: anybody can ask for any.
    private var refusedHostIsDue = MonotonicTime(nanoseconds: 0)

    /// Counts a request that was for another server, and tells of it now and then.
    func refusedHost(of head: HTTPRequestHead, at now: MonotonicTime) {
        counters.refusedHosts += 1
        guard now >= refusedHostIsDue, let host = head.host else { return }
        refusedHostIsDue = now + .seconds(60)
        application.edge.hostRefused?(host)
    }

    // MARK: Listening

    private var listeners: [(socket: ListeningSocket, audience: Audience)] = []
    private var dealt = 0

    /// Accepts connections on this loop and deals them to all loops in turn.
    func listen(with listener: ListeningSocket, entrance: Entrance, on reactor: Reactor) throws {
        try listener.start(
            on: reactor,
            accepted: { [unowned self] in deal($0, from: $1, by: entrance, on: reactor) },
            rested: { [unowned self] _ in counters.listenerRests += 1 })
        listeners.append((listener, entrance.audience))
    }

    /// Refuses a connection by letting go of it, or deals it. Of a flood of connections the listener takes a few dozen a
    /// turn, each a few microseconds: all others who are ready are served between.
    private func deal(
        _ connection: DetachedSocket, from address: PeerAddress?, by entrance: Entrance, on reactor: Reactor
    ) {
        guard !application.isFull else {
            counters.refusedConnections += 1
            return
        }
        var peer = HTTPPeer(address.map(IPAddress.init), by: entrance, trusted: application.edge.trustedProxies)
        if entrance.expectsProxyHeader {
            guard peer.isProxy else {
                counters.refusedProxies += 1
                return
            }
        } else {
            guard count(&peer, for: nil, at: reactor.now) == nil else { return }
        }
        counters.acceptedConnections += 1
        dealt = (dealt + 1) % application.loops.count
        guard dealt != loop.index else { return begin(connection, from: peer, on: reactor) }
        application.loops[dealt].submit { [application, peer] reactor in
            application.server(on: reactor).begin(connection, from: peer, on: reactor)
        }
    }

    private func begin(_ connection: DetachedSocket, from peer: HTTPPeer, on reactor: Reactor) {
        // Refused by the kernel or by a loop that stops: it is closed.
        guard let socket = try? StreamSocket(connection, on: reactor) else { return }
        socket.companion = peer.permit
        if peer.entrance.expectsProxyHeader {
            ProxyHandshakeConnection(on: socket, from: peer, server: self)
        } else if peer.entrance.isSecure {
            TLSHandshakeConnection(
                on: socket, from: peer, server: self, received: UnsafeRawBufferPointer(start: nil, count: 0))
        } else {
            HTTPConnection(on: socket, from: peer, server: self)
        }
    }

    /// - Parameter kept: Whose listeners go on; `nil`: none.
    func stopListening(keeping kept: Audience? = nil) {
        for listener in listeners where listener.audience != kept { listener.socket.close() }
        listeners.removeAll { $0.audience != kept }
    }

    // MARK: Whom connections count for

    /// Has a connection count for the address that it is made for, or that `head` was forwarded for. Then it counts for
    /// nobody else; when that address has too much already, for nobody at all.
    ///
    /// - Returns: Why the address may not have it.
    private func count(
        _ peer: inout HTTPPeer, for head: HTTPRequestHead?, at now: MonotonicTime
    ) -> AddressLimiter.Refusal? {
        let subscriber = peer.subscriber(of: head, trusted: application.edge.trustedProxies)
        guard subscriber != peer.permit?.address else { return nil }
        peer.permit = nil
        guard let subscriber else { return nil }
        // What a proxy forwards is a request, and pays as one: the connection is the proxy's, and may have been for anybody.
        switch application.addresses.open(subscriber, isNew: head == nil, at: now) {
        case .success(let permit):
            peer.permit = permit
            return nil
        case .failure(let refusal):
            switch refusal {
            case .tooManyConnections: counters.connectionsOverAddressLimit += 1
            case .tooFast: counters.rateLimitedConnections += 1
            }
            return refusal
        }
    }

    /// The same for a connection that is served already.
    func count(_ peer: inout HTTPPeer, for head: HTTPRequestHead?, on socket: StreamSocket) -> AddressLimiter.Refusal? {
        let refusal = count(&peer, for: head, at: socket.reactor.now)
        socket.companion = peer.permit
        return refusal
    }

    // MARK: Answers in the making

    func ticket(for connection: HTTPConnection) -> Ticket {
        lastTicket += 1
        let ticket = Ticket(number: lastTicket)
        awaiting[ticket] = connection
        return ticket
    }

    /// The connection that holds the ticket, unless it is gone; the ticket is spent.
    func redeem(_ ticket: Ticket) -> HTTPConnection? {
        awaiting.removeValue(forKey: ticket)
    }

    func forget(_ ticket: Ticket) {
        awaiting[ticket] = nil
    }

    /// The line of `Strict-Transport-Security` (RFC 6797 §6.1), for answers by TLS; empty when there is to be none.
    private(set) lazy var transportSecurityField: [UInt8] = {
        let seconds = application.edge.strictTransportSeconds
        return seconds > 0 ? Array("Strict-Transport-Security: max-age=\(seconds)\r\n".utf8) : []
    }()

    /// The line of `Date` (RFC 9110 §6.6.1), made once a second.
    var dateField: [UInt8] {
        let second = time(nil)
        if second != dateSecond {
            dateSecond = second
            dateLine = Array("Date: ".utf8) + HTTPDate.format(epochSeconds: Int64(second)) + Array("\r\n".utf8)
        }
        return dateLine
    }
}
