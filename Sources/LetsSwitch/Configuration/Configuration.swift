import Glibc
package import Wire

/// Every setting of the daemon with its default. A plain value: made by ``CommandLineParser`` from flags and
/// environment, changed by nobody afterwards.
///
/// What a setting is called on the command line, and the range it must lie in, stands in ``Setting/all``.
package struct Configuration: Sendable, Equatable {
    /// Where to accept connections. Loopback, so that a first try is never open to the network by accident.
    package var listen: [ListenAddress] = [.tcp(host: "127.0.0.1", port: 8080)]
    /// The certificate of the listeners that speak TLS, and those between it and the root: a file in PEM.
    package var tlsCertificate: String?
    /// The certificate's key: a file in PEM.
    package var tlsKey: String?
    /// Which database holds the tasks.
    package var database: DatabaseChoice = .privateCluster
    /// The directory of the private cluster.
    package var stateDirectory = "/var/lib/letsswitch"
    /// Event loops, one thread's worth of work each. A room lives on one of them.
    package var loops = Configuration.onlineProcessors

    /// How long before its start a task's registration closes, its reminder goes out and its room opens.
    package var reminderLead: Duration = .seconds(60)
    /// How long after the start a room closes.
    package var roomDuration: Duration = .seconds(3600)
    /// How long after its start what is past is kept.
    package var retention: Duration = .seconds(30 * 86_400)
    /// From SIGTERM to the exit, at most.
    package var drainTimeout: Duration = .seconds(10)
    /// Whether any UUID is a room at any time: for development, load tests, and use without the scheduler.
    package var openRooms = false
    /// Whether `/echo` sends every WebSocket message back: for third-party conformance suites.
    package var echo = false

    /// The peers that are believed when they say for whom they ask.
    package var trustedProxies = TrustedNetworks.thisMachine
    /// Whether every connection has to begin with a PROXY header.
    package var proxyProtocol = false
    /// Pages of other servers' that may use this one from a browser.
    package var allowedOrigins = AllowedOrigins()

    /// Peers in one room.
    package var roomSize = 1_000
    /// Open connections, all listeners together. The limit on descriptors may be lower, and then counts.
    package var maxConnections = 100_000
    /// Open connections of one address: an IPv4 address, or an IPv6 network of 64 bits. 0 sets no limit, here and below.
    package var maxConnectionsPerAddress = 1_000
    /// New connections of one address a second, and twice as many at once; beyond it they are closed as they come.
    package var connectionRate = 100
    /// Attempts of one address at a WebSocket a second; beyond it `429`. The app tries in a tight loop when it is refused.
    package var upgradeRate = 50
    /// Messages of one WebSocket peer a second, and twice as many at once; beyond it close code 1008.
    package var messageRate = 1_000
    /// Bytes of one HTTP request's line and fields; beyond it `431`.
    package var maxHeaderBytes = 16_384
    /// Bytes of one HTTP request's body; beyond it `413`. The largest body of the contract is well under 2 KiB.
    package var maxBodyBytes = 65_536
    /// Bytes of one WebSocket message, put together from its fragments; beyond it close code 1009.
    package var maxMessageBytes = 4_096
    /// Bytes from which on a message to one peer is sent compressed, if the peer takes it so.
    package var minCompressedBytes = 128
    /// Bytes that may wait for a peer that doesn't read; beyond it the peer is cut off.
    package var sendQueueBytes = 65_536
    /// Streams of reminders that one device may hold open; beyond it `429`.
    package var maxStreamsPerDevice = 16

    /// From a connection to the end of its TLS handshake.
    package var tlsHandshakeTimeout: Duration = .seconds(10)
    /// From a request's first byte to the end of its head.
    package var headerTimeout: Duration = .seconds(10)
    /// From the end of a request's head to the end of its body.
    package var bodyTimeout: Duration = .seconds(30)
    /// How long a connection may idle between two requests. Longer than the usual proxy's minute, so that the
    /// proxy closes first and never sends a request into a closing connection.
    package var keepAliveTimeout: Duration = .seconds(75)
    /// For a peer to take what waits for it.
    package var writeTimeout: Duration = .seconds(30)
    /// Between two WebSocket pings to a peer. Below the minute after which home routers forget a flow.
    package var pingInterval: Duration = .seconds(30)
    /// From a ping to the pong; later the peer counts as gone.
    package var pongTimeout: Duration = .seconds(10)
    /// From our close frame to the peer's.
    package var closeTimeout: Duration = .seconds(5)

    /// Connections to the database, LISTEN's apart.
    package var databaseConnections = 8
    /// One query, waiting included.
    package var databaseTimeout: Duration = .seconds(10)
    /// How long a request waits while nothing comes from the database. Under two seconds, since by then it must have its `503`.
    package var databaseWait: Duration = .milliseconds(1500)

    /// The channels that carry reminders beside the event streams.
    package var channels = ChannelSettings()

    /// Events below this level are not logged.
    package var logLevel: LogLevel = .info
    /// The shape of the log; `nil` chooses text on a terminal and JSON elsewhere.
    package var logFormat: LogFormat?

    /// systemd's notification socket (`$NOTIFY_SOCKET`), where it started us; see ``SystemdNotifier``.
    package var notifySocket: String?
    /// What the operator should know about the environment though it prevents nothing; to be logged at start.
    package var warnings: [String] = []

    package init() {}

    private static var onlineProcessors: Int {
        let count = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        return count > 0 ? Int(count) : 1
    }
}
