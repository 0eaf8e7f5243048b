package import Sockets

/// An address to listen on, with or without TLS: `0.0.0.0:8080`, `tls:0.0.0.0:443`.
package struct ServerEndpoint: Sendable, CustomStringConvertible {
    package let address: SocketAddress
    package let speaksTLS: Bool
    /// The audience whose routes it serves.
    package let audience: Audience
    /// Whether ``EdgePolicy/expectsProxyHeader`` applies. Not for endpoints without a proxy in front.
    package let isBehindProxies: Bool

    package init(
        _ address: SocketAddress, speaksTLS: Bool = false, audience: Audience = .everyone, isBehindProxies: Bool = true
    ) {
        self.isBehindProxies = isBehindProxies
        self.address = address
        self.speaksTLS = speaksTLS
        self.audience = audience
    }

    package var description: String { speaksTLS ? "tls:\(address)" : "\(address)" }
}

/// The audience of a listener or a route. A connection reaches the routes that share an audience with its listener. The
/// application names the audiences.
package struct Audience: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let everyone = Audience(rawValue: .max)
}

/// Information about the listener of a connection.
struct Entrance: Sendable {
    /// Whether it uses TLS.
    let isSecure: Bool
    let audience: Audience
    /// Whether each connection begins with a PROXY header.
    let expectsProxyHeader: Bool

    init(_ endpoint: ServerEndpoint, _ edge: EdgePolicy) {
        isSecure = endpoint.speaksTLS
        audience = endpoint.audience
        expectsProxyHeader = edge.expectsProxyHeader && endpoint.isBehindProxies
    }
}
