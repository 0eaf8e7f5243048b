package import Wire

/// The limits of a server's connections.
package struct ServerLimits: Sendable, Hashable {
    /// The limits of the sizes of requests.
    package var http = HTTPLimits()
    /// The maximum number of open connections of every kind. Further connections are closed at once.
    package var maxConnections = 100_000
    /// The maximum number of open connections of one address: an IPv4 address, or an IPv6 network of 64 bits. 0 sets no
    /// limit. For this limit and the next eight, an IPv6 network of 56 bits has twice the value, and one of 48 bits
    /// four times the value.
    package var maxConnectionsPerAddress = 8000
    /// The maximum number of new connections of one address per second; 0 sets no limit.
    package var connectionRate = 300
    /// The maximum number of WebSocket requests of one address per second; 0 sets no limit.
    package var upgradeRate = 200
    /// The maximum number of other requests of one address per second; 0 sets no limit.
    package var requestRate = 1000
    /// The maximum number of requests with an unsafe method (RFC 9110 §9.2.1) of one address per second; 0 sets no
    /// limit.
    package var writeRate = 100
    /// The burst of these rates, as a time. After a pause, the events of this time may come at once.
    package var addressBurst = Duration.seconds(30)
    /// The maximum number of requests of one address per day to routes that register something; 0 sets no limit. See
    /// ``Route/registers``.
    package var registrationsPerDay = 30_000
    /// The maximum number of names that one address takes per hour; 0 sets no limit. See ``LimitedAction/naming``.
    package var namesPerHour = 10
    /// The maximum number of stored messages of one address per day; 0 sets no limit. See ``LimitedAction/message``.
    package var messagesPerDay = 200_000
    /// The maximum number of messages of one WebSocket peer per second. After a pause, twice this number may come at
    /// once. 0 sets no limit. Pings and pongs count too. Each frame of a message except the last counts as
    /// 1/``fragmentsPerMessage`` of a message.
    package var messageRate = 1_000
    /// The number of fragments that count as one message. A peer may split messages into a few frames without being
    /// slowed down. But it can't send any number of empty frames.
    static let fragmentsPerMessage = 16
    /// The time limit for a TLS handshake. It starts with the connection, or after its PROXY header.
    package var tlsHandshakeTimeout = Duration.seconds(10)
    /// The time limit for the head of a request. It starts with the first byte of the head, or with a new connection.
    package var headerTimeout = Duration.seconds(10)
    /// The time limit for a request's content, after the end of its head.
    package var bodyTimeout = Duration.seconds(30)
    /// The time limit for the next request on an open connection. It is longer than the usual minute of proxies. The
    /// proxy therefore closes a connection first, and never sends a request into a closing connection.
    package var keepAliveTimeout = Duration.seconds(75)
    /// The time limit for the peer to take a response.
    package var writeTimeout = Duration.seconds(30)
    /// The number of unsent bytes of responses at which the server stops reading. WebSockets and streams are closed at
    /// this number.
    package var sendQueueBytes = 64 * 1024
    /// The maximum size of a WebSocket message in bytes, with all its fragments.
    package var maxMessageBytes = 4096
    /// The minimum size in bytes of a WebSocket message to compress, if compression was negotiated. Compressing smaller
    /// messages saves too little.
    package var minCompressedBytes = 128
    /// The time without received bytes after which a WebSocket peer gets a ping. It is shorter than the minute after
    /// which home routers drop a connection.
    package var pingInterval = Duration.seconds(30)
    /// The time without received bytes after a ping, after which the peer counts as gone.
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
