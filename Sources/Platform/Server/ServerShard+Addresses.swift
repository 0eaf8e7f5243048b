import Basics
import Sockets
import Wire

/// Whom connections count for.
extension ServerShard {
    /// Has a connection count for the address that it is made for, or that `head` was forwarded for. Then it counts for
    /// nobody else; when that address has too much already, for nobody at all.
    ///
    /// - Returns: Why the address may not have it.
    func count(
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
}
