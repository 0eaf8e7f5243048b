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
