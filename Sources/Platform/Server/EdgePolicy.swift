package import Sockets
package import Wire

/// Whom the server believes about who is at the other end, and which pages may use it from a browser.
package struct EdgePolicy: Sendable {
    /// The peers that may say for whom they ask: by `X-Forwarded-For` in each request, by a PROXY header before the first.
    package var trustedProxies = TrustedNetworks.thisMachine
    /// Whether every connection has to begin with a PROXY header. Then only trusted peers may connect at all.
    package var expectsProxyHeader = false
    /// Pages of other servers' that may read answers (CORS), change anything and have WebSockets.
    package var allowedOrigins = AllowedOrigins()
    /// What those may send along beyond what any page may, as `Access-Control-Allow-Headers` has it.
    package var allowedRequestFields = "Content-Type"
    /// The content codings that handlers decode, in lowercase. Content in any other coding gets 415.
    package var contentCodings: Set<String> = []
    /// The names that it answers to; addresses always are.
    package var allowedHosts = AllowedHosts.all
    /// Told of a host that was asked for and isn't ours, at most once a minute by each loop; on the loops.
    package var hostRefused: (@Sendable (String) -> Void)?
    /// For how long browsers that came by TLS come by nothing else to this host, whatever the port (RFC 6797); 0 leaves it to
    /// them.
    package var strictTransportSeconds = 0
    /// Told of every TLS handshake that fails, and why in OpenSSL's words; on the loops.
    package var tlsHandshakeFailed: (@Sendable (TLSHandshakeFailure, String) -> Void)?

    package init() {}
}
