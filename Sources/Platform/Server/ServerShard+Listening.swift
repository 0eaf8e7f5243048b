import Sockets
import Wire

/// New connections. They are accepted on one loop, distributed to all loops, and started there.
extension ServerShard {
    /// Accepts connections on this loop and distributes them to all loops in turn.
    func listen(with listener: ListeningSocket, entrance: Entrance, on reactor: Reactor) throws {
        try listener.start(
            on: reactor,
            accepted: { [unowned self] in deal($0, from: $1, by: entrance, on: reactor) },
            rested: { [unowned self] _ in counters.listenerRests += 1 })
        listeners.append((listener, entrance.audience))
    }

    /// Closes a refused connection, or passes it to a loop. During a flood, the listening socket accepts a few dozen
    /// connections per turn. Each takes a few microseconds, and other sockets are served in between.
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
        // The kernel or a stopping loop refused the connection, so it is closed.
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

    /// - Parameter kept: The audience whose listening sockets stay open; `nil` for none.
    func stopListening(keeping kept: Audience? = nil) {
        for listener in listeners where listener.audience != kept { listener.socket.close() }
        listeners.removeAll { $0.audience != kept }
    }
}
