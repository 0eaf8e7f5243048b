import Glibc
package import Observability
package import Wire

/// Every setting of the daemon with its default. A plain value: made by ``CommandLineParser`` from flags and
/// environment, changed by nobody afterwards.
///
/// What a setting is called on the command line, and the range it must lie in, stands in ``Setting/all``.
package struct Configuration: Sendable, Equatable {
    /// Where to accept connections. Loopback, so that a first try is never open to the network by accident.
    package var listen: [ListenAddress] = [.tcp(host: "127.0.0.1", port: 8080)]
    /// Where operators ask for `/metrics` and `/readyz`; empty: where everybody else comes too.
    package var operationsListen: [ListenAddress] = []
    /// The certificate of the listeners that speak TLS, and those between it and the root: a file in PEM.
    package var tlsCertificate: String?
    /// The certificate's key: a file in PEM.
    package var tlsKey: String?
    /// For how long browsers that came by TLS are to come by nothing else (RFC 6797). Nothing is asked of them by itself: it holds for
    /// every port of the host, other programs' too, and can't be taken back.
    package var strictTransport: Duration = .zero
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
    /// How long push tokens, subscriptions, topics and calendars are kept after their last use: that they were registered, a
    /// calendar was read, or their device registered a task. Over a year, for those who promise something once a year.
    package var addressRetention: Duration = .seconds(400 * 86_400)
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
    /// The names that it answers to beside its own, see ``servedHosts``.
    package var hosts = AllowedHosts()
    /// Pages of other servers' that may use this one from a browser.
    package var allowedOrigins = AllowedOrigins()

    /// Peers in one room.
    package var roomSize = 1_000
    /// Open connections, all listeners together. The limit on descriptors may be lower, and then counts.
    package var maxConnections = 100_000
    // The limits per address leave room for a hall of 1,000 people behind one address, who all come within half a minute: each
    // loads the page (10 requests over up to 6 connections, the most that a browser makes), asks for the day, opens a stream,
    // and registers a task and a way for reminders: 6 × 1,000 connections, and a WebSocket each in the end; 200 new ones a second; 15 × 1,000 requests
    // in 30 s are 500 a second, of which 2 × 1,000 are writes, 67 a second. Then each looks at the day every 30 s (the app by POST):
    // 33 a second; or, on the page, every few seconds while others register: 200 to 300.

    /// Open connections of one address: an IPv4 address, or an IPv6 network of 64 bits; at most a quarter of all. 0 sets no
    /// limit, here and below. IPv6 networks of 56 and 48 bits have two and four times as much of this and the next five.
    package var maxConnectionsPerAddress = 8_000
    /// New connections of one address a second, and twice as many at once; beyond it they are closed as they come.
    package var connectionRate = 300
    /// Attempts of one address at a WebSocket a second, as many at once; beyond it `429`. The app tries in a tight loop when it
    /// is refused.
    package var upgradeRate = 200
    /// Other requests of one address a second, as many at once; beyond it `429`.
    package var requestRate = 1_000
    /// Those of them that are no GET, HEAD or OPTIONS a second, ten times as many at once; beyond it `429`.
    package var writeRate = 100
    /// Tasks, tokens, subscriptions and calendars of one address a day, evenly spread or all at once; beyond it `429`. The hall's
    /// 1,000 people have 30 each. What one address fills in the 120 days that a task may be kept is less than
    /// ``maxStoredTasks``.
    package var registrationsPerDay = 30_000
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
    /// Tasks of one device that haven't started; beyond it `429`.
    package var maxTasksPerDevice = 200
    /// Rows, of all people's together, of what strangers can register; beyond it `503` for what is new. A task takes 0.5 KB, 3 KB
    /// with the longest names; an address up to 2.4 KB.
    package var maxStoredTasks = 5_000_000
    package var maxStoredAddresses = 1_000_000
    package var maxStoredCalendars = 1_000_000

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

    /// Connections to the database for requests; two each for the scheduler and the deliveries, and LISTEN's, come to them.
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
