package import Sockets

/// Where a server listens, and whether TLS is spoken there: `0.0.0.0:8080`, `tls:0.0.0.0:443`.
package struct ServerEndpoint: Sendable, CustomStringConvertible {
    package let address: SocketAddress
    package let speaksTLS: Bool

    package init(_ address: SocketAddress, speaksTLS: Bool = false) {
        self.address = address
        self.speaksTLS = speaksTLS
    }

    package var description: String { speaksTLS ? "tls:\(address)" : "\(address)" }
}
