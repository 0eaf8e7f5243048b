package import AMQP
package import Access
package import Conversations
package import Daemons
package import Domain
package import Features
import Glibc
package import Matches
package import Notifications
package import Observability
package import Postgres
package import Questions
package import Reminders
package import Schedule
package import Server
package import Wire

/// All settings of the daemon with their defaults. ``CommandLineParser`` creates the value from flags and environment.
/// The value doesn't change afterwards.
///
/// ``SettingTable/all`` has the flag and the range of each setting.
package struct Configuration: SettingValues, Equatable {
    /// The addresses to accept connections on. The default is loopback, so that a first try isn't open to the network
    /// by accident.
    package var listen: [ListenAddress] = [.tcp(host: "127.0.0.1", port: 8080)]
    /// The addresses for `/metrics` and `/readyz`. If empty, the addresses of `listen` serve them.
    package var operationsListen: [ListenAddress] = []
    /// The file with the certificate and its chain, in PEM.
    package var tlsCertificate: String?
    /// The file with the certificate's key, in PEM.
    package var tlsKey: String?
    /// How long browsers must use only TLS for this host after a visit by TLS (RFC 6797). Off by default, because it
    /// applies to every port of the host, also to other programs, and can't be undone.
    package var strictTransport: Duration = .zero
    /// The database that holds the tasks.
    package var database: DatabaseChoice = .privateCluster
    /// The directory of the private cluster.
    package var stateDirectory = "/var/lib/letsswitch"
    /// The features that this daemon leaves out: their routes, channels and background work.
    package var leftOut: Set<OptionalFeature> = []
    /// The bus that carries ales and presence between the daemons on one database.
    package var bus: BusChoice = .automatic
    /// The RabbitMQ server for conversations and ``BusChoice/amqp``: `amqp://user:password@host:5672/vhost`. May
    /// contain a password, so it must not be logged.
    package var amqpURL: AMQPURL?
    /// The certificate authorities for an `amqps://` server. `nil` uses the system's.
    package var amqpCAFile: String?
    /// The number of event loops. Each uses up to one thread. A room lives on one loop.
    package var loops = Configuration.onlineProcessors

    /// The times and limits of tasks.
    package var schedule = ScheduleSettings()
    /// The limits of reminder streams.
    package var reminders = ReminderSettings()
    /// The rooms of matches.
    package var matches = MatchSettings()
    /// The limits of question sessions and questions.
    package var questions = QuestionSettings()
    /// The limits of conversations, and how long their messages are kept.
    package var conversations = ConversationSettings()
    /// The providers that deliver reminders in addition to the event streams.
    package var providers = ProviderSettings()
    /// The limits of stored rows.
    package var storage = StorageLimits()
    /// How long a person without a connection still counts as present. A person who returns within this time was never
    /// absent.
    package var presenceGrace: Duration = .seconds(15)
    /// The longest time from SIGTERM to the exit.
    package var drainTimeout: Duration = .seconds(10)
    /// The secrets of tickets, and whether a ticket is required.
    package var tickets = TicketSettings()
    /// Whether `/echo` sends every WebSocket message back. For conformance suites.
    package var echo = false

    /// The proxies whose headers about the client's address are trusted.
    package var trustedProxies = TrustedNetworks.thisMachine
    /// Whether every connection must begin with a PROXY header.
    package var proxyProtocol = false
    /// Further host names that requests may use. See ``servedHosts``.
    package var hosts = AllowedHosts()
    /// The origins whose pages may use this server from a browser.
    package var allowedOrigins = AllowedOrigins()

    // The limits per address allow 1,000 people behind one address who all arrive in the same second. Each person loads
    // the page (30 requests over up to 6 connections, a browser's maximum), reads the day, opens a stream, and
    // registers a task and a way to be reminded. That makes 6 × 1,000 connections, later 1,000 WebSocket handshakes,
    // and 35 × 1,000 requests, of which 2 × 1,000 are writes. The bursts allow 9,000, 6,000, 30,000 and 3,000 of these
    // at once, and the remaining requests in the next five seconds. Afterwards each person reads the day every 30 s
    // (the app by POST), which makes 33 requests per second. On the page, people read the day every few seconds while
    // others register, which makes 200 to 300 requests per second.

    /// The limits of connections. The number of connections may be below ``ServerLimits/maxConnections`` if there are
    /// fewer file descriptors. One address may have at most a quarter of the connections.
    package var limits = ServerLimits()
    /// The limits of Action Cable connections.
    package var cable = CableLimits()

    /// The database connections for requests, without their address. There are ``connectionsBesideRequests`` more. A
    /// request waits less than two seconds (``PostgresConfiguration/stallTimeout``), because it must be answered with
    /// `503` within two seconds.
    package var postgres = PostgresConfiguration(conninfo: "", applicationName: "letsswitch")

    /// Events below this level are not logged.
    package var logLevel: LogLevel = .info
    /// The format of the log. `nil` selects text on a terminal and JSON otherwise.
    package var logFormat: LogFormat?

    /// systemd's notification socket (`$NOTIFY_SOCKET`). See ``SystemdNotifier``.
    package var notifySocket: String?
    /// The time after which systemd restarts a daemon that doesn't report (`$WATCHDOG_USEC`, from the unit's
    /// `WatchdogSec=`). `nil` if systemd doesn't watch this process.
    package var watchdog: Duration?
    /// Warnings about the environment and about settings that don't prevent a start. The daemon logs them when it
    /// starts.
    package var warnings: [String] = []

    package init() {}

    private static var onlineProcessors: Int {
        let count = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        return count > 0 ? Int(count) : 1
    }
}
