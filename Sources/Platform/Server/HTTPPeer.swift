import Sockets
import Wire

/// The other end of a connection, and the address that it counts for.
struct HTTPPeer: Sendable {
    /// The socket's address, or the one in a trusted proxy's PROXY header; `nil` for a Unix socket.
    let address: IPAddress?
    let entrance: Entrance
    /// Whether it is a trusted proxy, whose requests may name their clients.
    let isProxy: Bool
    /// The current permit; `nil` if the connection isn't counted.
    var permit: ConnectionPermit?

    init(_ address: IPAddress?, by entrance: Entrance, trusted: TrustedNetworks) {
        self.address = address
        self.entrance = entrance
        isProxy = trusted.contains(address)
    }

    /// How its requests arrive.
    var transport: Request.Transport { entrance.isSecure ? .tls : isProxy ? .proxy : .plain }

    /// The address for limits if no proxy names another one; `nil` for this machine's own, which has no limits, because
    /// all its tools would share one address.
    private var ownSubscriber: IPAddress? {
        guard let address, !address.isLoopback else { return nil }
        return address.subscriber
    }

    /// Returns the address for the limits of a request. A proxied connection counts for the client of its latest
    /// request.
    ///
    /// - Parameter head: `nil` before the first request.
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
