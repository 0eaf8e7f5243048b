package import Sockets

/// An address to listen on, with or without TLS, such as `0.0.0.0:8080` or `tls:0.0.0.0:443`.
package struct ServerEndpoint: Sendable, CustomStringConvertible {
    package let address: SocketAddress
    package let speaksTLS: Bool
    /// The audience whose routes are served at this endpoint.
    package let audience: Audience
    /// Whether ``EdgePolicy/expectsProxyHeader`` applies to this endpoint. `false` for an endpoint that clients reach
    /// without a proxy.
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

/// The audience of a listening socket or a route. A connection reaches the routes that share an audience with its
/// listening socket. The application names the audiences.
package struct Audience: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let everyone = Audience(rawValue: .max)
}

/// Information about the listening socket of a connection.
struct Entrance: Sendable {
    /// Whether its connections use TLS.
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
