import Sockets
import Wire

/// The other end of a connection, and the address for which the connection counts.
struct HTTPPeer: Sendable {
    /// The socket's address, or the address in a trusted proxy's PROXY header. `nil` for a Unix socket.
    let address: IPAddress?
    let entrance: Entrance
    /// Whether the peer is a trusted proxy, whose requests may name their clients.
    let isProxy: Bool
    /// The current permit, or `nil` if the connection isn't counted.
    var permit: ConnectionPermit?

    init(_ address: IPAddress?, by entrance: Entrance, trusted: TrustedNetworks) {
        self.address = address
        self.entrance = entrance
        isProxy = trusted.contains(address)
    }

    /// How the peer's requests arrive.
    var transport: Request.Transport { entrance.isSecure ? .tls : isProxy ? .proxy : .plain }

    /// The address that limits use if no proxy names another one. `nil` for this machine, which has no limits, because
    /// all local tools would share one address.
    private var ownSubscriber: IPAddress? {
        guard let address, !address.isLoopback else { return nil }
        return address.subscriber
    }

    /// Returns the address that limits use for a request. A proxy's connection counts for the client of its latest
    /// request.
    ///
    /// - Parameter head: The head of the request, or `nil` before the first request.
    func subscriber(of head: HTTPRequestHead?, trusted: TrustedNetworks) -> IPAddress? {
        guard isProxy else { return ownSubscriber }
        // The proxy has not named the client yet.
        guard let head else { return nil }
        return head.forwardedAddress(through: trusted)?.subscriber ?? ownSubscriber
    }
}

extension IPAddress {
    init(_ peer: PeerAddress) {
        self.init(high: peer.high, low: peer.low)
    }
}
