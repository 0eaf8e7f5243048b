package import AMQP
package import Access
package import Daemons
package import Delivery
package import Domain
import Glibc
package import Messaging
package import Observability
package import Postgres
package import Scheduling
package import Server
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
    /// What carries ales and presence between the daemons on one database.
    package var bus: BusChoice = .automatic
    /// A RabbitMQ server, to which conversations go and from which they come, and ``BusChoice/amqp``'s: `amqp://user:password@host:5672/vhost`. May hold a password: never to be logged.
    package var amqpURL: AMQPURL?
    /// The authorities by which an `amqps://` server is judged; the system's if it is `nil`.
    package var amqpCAFile: String?
    /// Event loops, one thread's worth of work each. A room lives on one of them.
    package var loops = Configuration.onlineProcessors

    /// The times and numbers that tasks go by.
    package var schedule = ScheduleSettings()
    /// How long a person without a connection still counts as present: who comes back within it hasn't been away.
    package var presenceGrace: Duration = .seconds(15)
    /// From SIGTERM to the exit, at most.
    package var drainTimeout: Duration = .seconds(10)
    /// By what devices show who they are, where a name alone isn't enough.
    package var tickets = TicketSettings()
    /// Whether any UUID is a room at any time: for development, load tests, and use without the scheduler.
    package var openRooms = false
    /// Whether there is a session of questions that is everybody's, without keys.
    package var openQuestions = false
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

    /// Peers in a match's room.
    package var roomSize = 1_000
    // The limits per address leave room for a hall of 1,000 people behind one address, who may all come in the same second: each
    // loads the page (30 requests over up to 6 connections, the most that a browser makes), asks for the day, opens a stream,
    // and registers a task and a way for reminders: 6 × 1,000 connections, and a WebSocket each in the end; 1,000 attempts at a
    // WebSocket; 35 × 1,000 requests, of which 2 × 1,000 are writes. The burst takes 9,000, 6,000, 30,000 and 3,000 of these at once,
    // and what is left of the requests in the next five seconds. Then each looks at the day every 30 s (the app by POST):
    // 33 a second; or, on the page, every few seconds while others register: 200 to 300.

    /// What peers may take of the server, and for how long. There may be fewer connections than ``ServerLimits/maxConnections``: the limit
    /// on descriptors may be lower, and an address has a quarter of them at most.
    package var limits = ServerLimits()
    /// Streams of reminders that one device may hold open; beyond it `429`.
    package var maxStreamsPerDevice = 16
    /// What connections of Action Cable may take.
    package var cable = CableLimits()
    /// Sockets in a session of questions.
    package var sessionSize = 5_000
    /// How many sessions and questions there may be.
    package var questions = QuestionSettings()
    /// How many conversations there may be, and how long what is said in them is kept.
    package var conversations = ConversationSettings()
    /// How much of what strangers register is kept.
    package var storage = StorageLimits()

    /// The connections to the database for requests, but for where it is; ``connectionsBesideRequests`` come to them. A request waits for less than two seconds (``PostgresConfiguration/stallTimeout``), since by then it must have its `503`.
    package var postgres = PostgresConfiguration(conninfo: "", applicationName: "letsswitch")

    /// The providers that carry reminders beside the event streams.
    package var providers = ProviderSettings()

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
