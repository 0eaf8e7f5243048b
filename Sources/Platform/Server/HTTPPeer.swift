import Sockets
import Wire

/// Who is at the other end of a connection, and for whom it counts.
struct HTTPPeer: Sendable {
    /// The socket's, or the one that a trusted proxy's PROXY header names; `nil` for a Unix socket's.
    let address: IPAddress?
    let entrance: Entrance
    /// A trusted proxy: each request may say for whom it is.
    let isProxy: Bool
    /// What it counts as now; `nil` while it counts for nobody.
    var permit: ConnectionPermit?

    init(_ address: IPAddress?, by entrance: Entrance, trusted: TrustedNetworks) {
        self.address = address
        self.entrance = entrance
        isProxy = trusted.contains(address)
    }

    /// How its requests come here.
    var transport: Request.Transport { entrance.isSecure ? .tls : isProxy ? .proxy : .plain }

    /// The address that limits count when no proxy names another; `nil` for this machine's own, which are exempt: all of a
    /// site's tools would share one address.
    private var ownSubscriber: IPAddress? {
        guard let address, !address.isLoopback else { return nil }
        return address.subscriber
    }

    /// The address that limits count for a request. A proxied connection counts for the client of its latest request.
    ///
    /// - Parameter head: `nil` before the first request.
    func subscriber(of head: HTTPRequestHead?, trusted: TrustedNetworks) -> IPAddress? {
        guard isProxy else { return ownSubscriber }
        // What a proxy hasn't said yet is not known.
        guard let head else { return nil }
        return head.forwardedAddress(through: trusted)?.subscriber ?? ownSubscriber
    }
}

extension IPAddress {
    init(_ peer: PeerAddress) {
        self.init(high: peer.high, low: peer.low)
    }
}
