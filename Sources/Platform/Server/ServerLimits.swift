package import Wire

/// The limits of a server's connections.
package struct ServerLimits: Sendable, Hashable {
    /// The sizes of requests.
    package var http = HTTPLimits()
    /// The maximum number of open connections of every kind. Further ones are closed at once.
    package var maxConnections = 100_000
    /// The maximum number of open connections of one address: an IPv4 address, or an IPv6 network of 64 bits; 0 sets no
    /// limit. For this and the next eight limits, the /56 and /48 networks of an IPv6 address have two and four times
    /// as much.
    package var maxConnectionsPerAddress = 8000
    /// New connections of one address per second; 0 sets no limit.
    package var connectionRate = 300
    /// WebSocket requests of one address per second; 0 sets no limit.
    package var upgradeRate = 200
    /// Other requests of one address per second; 0 sets no limit.
    package var requestRate = 1000
    /// Requests of one address with an unsafe method (RFC 9110 §9.2.1) per second; 0 sets no limit.
    package var writeRate = 100
    /// The burst of these rates: as much as they permit in this time may come at once after a pause.
    package var addressBurst = Duration.seconds(30)
    /// Requests of one address per day to routes that register something; 0 sets no limit. See ``Route/registers``.
    package var registrationsPerDay = 30_000
    /// Names that one address takes per hour; 0 sets no limit. See ``LimitedAction/naming``.
    package var namesPerHour = 10
    /// Stored messages of one address per day; 0 sets no limit. See ``LimitedAction/message``.
    package var messagesPerDay = 200_000
    /// Messages of one WebSocket peer per second, and twice as many at once; 0 sets no limit. Pings and pongs count
    /// too. Each frame of a message except the last counts as one ``fragmentsPerMessage``th.
    package var messageRate = 1_000
    /// A peer may split messages into a few frames without sending fewer, but can't send any number of empty frames.
    static let fragmentsPerMessage = 16
    /// For a TLS handshake, after the connection or its PROXY header.
    package var tlsHandshakeTimeout = Duration.seconds(10)
    /// The time limit for a request's head, after its first byte, or after a new connection.
    package var headerTimeout = Duration.seconds(10)
    /// The time limit for a request's content, after the end of its head.
    package var bodyTimeout = Duration.seconds(30)
    /// For the next request on an open connection. Longer than the usual minute of proxies, so that the proxy closes
    /// first and never sends a request into a closing connection.
    package var keepAliveTimeout = Duration.seconds(75)
    /// The time limit for the peer to take a response.
    package var writeTimeout = Duration.seconds(30)
    /// The number of unsent bytes of responses at which reading stops. WebSockets and streams are closed at this
    /// number.
    package var sendQueueBytes = 64 * 1024
    /// The maximum size of a WebSocket message in bytes, with all its fragments.
    package var maxMessageBytes = 4096
    /// The minimum size of a WebSocket message to compress, if compression was negotiated. Smaller ones save too
    /// little.
    package var minCompressedBytes = 128
    /// The silence after which a WebSocket peer is pinged. Shorter than the minute after which home routers drop a
    /// connection.
    package var pingInterval = Duration.seconds(30)
    /// The silence after a ping after which the peer counts as gone.
    package var pongTimeout = Duration.seconds(10)
    /// The time limit for a WebSocket peer to answer a close frame.
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

/// A time limit for an action of the peer.
package enum TimeLimit: Sendable, CaseIterable {
    case header, body, keepAlive, write, pong, close
}
