import Basics
import Sockets
import Wire

/// Counts connections per address.
extension ServerShard {
    /// Counts a connection for the address that it comes from, or for the address that `head` was forwarded for. The
    /// connection isn't counted for the previous address any more. If the new address exceeds its limit, the connection
    /// isn't counted at all.
    ///
    /// - Returns: The reason if the new address exceeds its limit.
    func count(
        _ peer: inout HTTPPeer, for head: HTTPRequestHead?, at now: MonotonicTime
    ) -> AddressLimiter.Refusal? {
        let subscriber = peer.subscriber(of: head, trusted: application.edge.trustedProxies)
        guard subscriber != peer.permit?.address else { return nil }
        peer.permit = nil
        guard let subscriber else { return nil }
        // A forwarded request is charged only as a request. Its connection belongs to the proxy, and may have served
        // other clients before.
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

    /// Counts a connection that has a socket, like the function above.
    func count(_ peer: inout HTTPPeer, for head: HTTPRequestHead?, on socket: StreamSocket) -> AddressLimiter.Refusal? {
        let refusal = count(&peer, for: head, at: socket.reactor.now)
        socket.companion = peer.permit
        return refusal
    }
}
