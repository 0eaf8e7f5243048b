package import Sockets
package import Wire

/// The rules for proxies, host names, origins and TLS.
package struct EdgePolicy: Sendable {
    /// The proxies that may name their clients, either by `X-Forwarded-For` in each request, or by a PROXY header
    /// before the first request.
    package var trustedProxies = TrustedNetworks.thisMachine
    /// Whether every connection must begin with a PROXY header. If so, only trusted proxies may connect.
    package var expectsProxyHeader = false
    /// The origins of other sites whose pages may read responses (CORS), change data and open WebSockets.
    package var allowedOrigins = AllowedOrigins()
    /// The value of `Access-Control-Allow-Headers`: the header fields that pages of these origins may send.
    package var allowedRequestFields = "Content-Type"
    /// The content codings that handlers decode, in lowercase. Content in any other coding is refused with 415.
    package var contentCodings: Set<String> = []
    /// The host names of this server. IP addresses are always accepted.
    package var allowedHosts = AllowedHosts.all
    /// Called on a loop with the name of a refused host, at most once a minute.
    package var hostRefused: (@Sendable (String) -> Void)?
    /// The time in seconds during which browsers use only TLS for this host, on any port (RFC 6797). 0 omits the header
    /// field.
    package var strictTransportSeconds = 0
    /// Called on a loop for each failed TLS handshake, with OpenSSL's reason.
    package var tlsHandshakeFailed: (@Sendable (TLSHandshakeFailure, String) -> Void)?

    package init() {}
}
