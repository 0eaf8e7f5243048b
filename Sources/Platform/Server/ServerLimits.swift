package import Wire

/// The limits of a server's connections: what a peer may take, and for how long.
package struct ServerLimits: Sendable, Hashable {
    /// Sizes of requests.
    package var http = HTTPLimits()
    /// Connections open at once, of every kind; more are closed as they come.
    package var maxConnections = 100_000
    /// Connections that one address may have open: an IPv4 address, or an IPv6 network of 64 bits; 0 sets no limit. Of this and the next eight the networks of 56 and 48 bits
    /// around an IPv6 address have two and four times as much.
    package var maxConnectionsPerAddress = 8000
    /// New connections of one address a second; 0 sets no limit.
    package var connectionRate = 300
    /// Attempts of one address at a WebSocket a second; 0 sets no limit.
    package var upgradeRate = 200
    /// Other requests of one address a second; 0 sets no limit.
    package var requestRate = 1000
    /// Those of them that aren't safe (RFC 9110 §9.2.1) a second; 0 sets no limit.
    package var writeRate = 100
    /// After a pause, what comes at these rates in so long may come at once.
    package var addressBurst = Duration.seconds(30)
    /// Requests of one address a day to routes that register something; 0 sets no limit. See ``Route/registers``.
    package var registrationsPerDay = 30_000
    /// Names that one address takes an hour; 0 sets no limit. See ``LimitedAction/naming``.
    package var namesPerHour = 10
    /// What one address says that is kept, a day; 0 sets no limit. See ``LimitedAction/message``.
    package var messagesPerDay = 200_000
    /// Messages of one WebSocket peer a second, and twice as many at once; 0 sets no limit. Pings and pongs count too, and of a
    /// message's frames each but its last as one ``fragmentsPerMessage``th.
    package var messageRate = 1_000
    /// So that whoever sends messages in a few pieces may send as many as others, and nobody any number of empty ones.
    static let fragmentsPerMessage = 16
    /// For a TLS handshake, from the connection (or its PROXY header) on.
    package var tlsHandshakeTimeout = Duration.seconds(10)
    /// For a request's head, from its first byte; also for a new connection's first request.
    package var headerTimeout = Duration.seconds(10)
    /// For a request's content, from the end of its head.
    package var bodyTimeout = Duration.seconds(30)
    /// For the next request on a connection that is kept.
    /// Longer than the usual proxy's minute, so that the proxy closes first and never sends a request into a closing connection.
    package var keepAliveTimeout = Duration.seconds(75)
    /// For the peer to take an answer.
    package var writeTimeout = Duration.seconds(30)
    /// Bytes of answers that may wait for a peer before no more of its requests are read; also for each WebSocket and
    /// each stream, which are closed when more waits.
    package var sendQueueBytes = 64 * 1024
    /// A WebSocket message's size in bytes, over all its fragments.
    package var maxMessageBytes = 4096
    /// The size from which a WebSocket message is sent compressed, where that was agreed on: of a shorter one too little is
    /// saved.
    package var minCompressedBytes = 128
    /// Silence after which a WebSocket peer is pinged. Below the minute after which home routers forget a flow.
    package var pingInterval = Duration.seconds(30)
    /// Silence after a ping after which the peer counts as gone.
    package var pongTimeout = Duration.seconds(10)
    /// For a WebSocket peer to answer our close frame.
    package var closeTimeout = Duration.seconds(5)

    package init() {}

    subscript(limit: TimeLimit) -> Duration {
        switch limit {
        case .header: headerTimeout
        case .body: bodyTimeout
        case .keepAlive: keepAliveTimeout
        case .write: writeTimeout
        case .pong: pongTimeout
        case .close: closeTimeout
        }
    }
}

/// A wait that came to its end before the peer did what it was to do.
package enum TimeLimit: Sendable, CaseIterable {
    case header, body, keepAlive, write, pong, close
}
