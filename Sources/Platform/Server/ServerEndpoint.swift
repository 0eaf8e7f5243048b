package import Sockets

/// Where a server listens, and whether TLS is spoken there: `0.0.0.0:8080`, `tls:0.0.0.0:443`.
package struct ServerEndpoint: Sendable, CustomStringConvertible {
    package let address: SocketAddress
    package let speaksTLS: Bool
    /// Whose routes there are.
    package let audience: Audience
    /// Whether ``EdgePolicy/expectsProxyHeader`` holds there: not where nobody's proxy is between.
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

/// For whom a listener is, and for whom a route: a connection reaches the routes that share an audience with the listener that it
/// came by. Whom they stand for is the application's business, which names them.
package struct Audience: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let everyone = Audience(rawValue: .max)
}

/// What there is to know of the listener that a connection came by.
struct Entrance: Sendable {
    /// Whether TLS is spoken there.
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
