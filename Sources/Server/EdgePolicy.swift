package import Sockets
package import Wire

/// Whom the server believes about who is at the other end, and which pages may use it from a browser.
package struct EdgePolicy: Sendable {
    /// The peers that may say for whom they ask: by `X-Forwarded-For` in each request, by a PROXY header before the first.
    package var trustedProxies = TrustedNetworks.thisMachine
    /// Whether every connection has to begin with a PROXY header. Then only trusted peers may connect at all.
    package var expectsProxyHeader = false
    /// Pages of other servers' that may read answers (CORS) and have WebSockets.
    package var allowedOrigins = AllowedOrigins()
    /// Told of every TLS handshake that fails, and why in OpenSSL's words; on the loops.
    package var tlsHandshakeFailed: (@Sendable (TLSHandshakeFailure, String) -> Void)?

    package init() {}
}
