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
