import Access
import Conversations
import Domain
package import Features
import Matches
import Notifications
import Observability
import Postgres
import Questions
import Reminders
import Schedule
import Server
import Wire

/// The table of settings. `--help` groups it by section; within a section it has the order of the table.
///
/// The rows of a feature are in the feature's folder. The other rows are here and in the files beside this one.
package enum SettingTable {
    package static let all: [Setting<Configuration>] =
        [service, tls, limits, features, shared, tickets, bus, network, addressLimits, waits, databaseLimits, log]
        .joined().flatMap(\.withFileForm)

    /// The settings of all features. A new feature's settings are added here, and their values in ``Configuration``.
    private static let features: [Setting<Configuration>] = [
        rows(ScheduleSettings.settings, \.schedule), rows(ScheduleSettings.storage, \.storage),
        rows(ReminderSettings.settings, \.reminders),
        rows(MatchSettings.settings, \.matches),
        rows(ProviderSettings.settings, \.providers), rows(ProviderSettings.storage, \.storage),
        rows(QuestionSettings.settings, \.questions), rows(QuestionSettings.storage, \.storage),
        rows(ConversationSettings.settings, \.conversations), rows(ConversationSettings.storage, \.storage),
    ].flatMap(\.self)

    /// Returns settings whose values are at `field` of the configuration.
    private static func rows<Values>(
        _ settings: [Setting<Values>], _ field: Setting<Configuration>.Field<Values>
    ) -> [Setting<Configuration>] {
        settings.map { $0.lifted(field) }
    }

    private static let day: Duration = .seconds(86_400)
    private static let moment: Duration = .milliseconds(1)

    private static let service: [Setting<Configuration>] = [
        Setting(
            name: "listen", section: .service, kind: .values(placeholder: "ADDRESS:PORT"),
            help: "listens on [::1]:80, unix:/path, tls:0.0.0.0:443; repeatable",
            defaultText: "127.0.0.1:8080, or 0.0.0.0:$PORT"
        ) { configuration, values throws(InvalidValue) in
            configuration.listen = try addresses(values)
        },
        Setting(
            name: "operations-listen", section: .service, kind: .values(placeholder: "ADDRESS:PORT"),
            help: "the only address that serves /metrics and /readyz; repeatable",
            defaultText: "the addresses of --listen"
        ) { configuration, values throws(InvalidValue) in
            configuration.operationsListen = try addresses(values)
        },
        .text(
            "database-url", .service, placeholder: "URL",
            default: "$DATABASE_URL, libpq's PG*, or a private cluster",
            "URL of the database: postgresql://user@host/name"
        ) { configuration, value throws(InvalidValue) in
            configuration.database = try DatabaseChoice(url: value)
        }.allowedInFile,
        .text(
            "state-dir", .service, placeholder: "DIR", default: Configuration().stateDirectory,
            "directory of the private cluster"
        ) { configuration, value throws(InvalidValue) in
            guard !value.isEmpty else { throw InvalidValue(value, "must not be empty") }
            configuration.stateDirectory = value
        },
        Setting(
            name: "without", section: .service, kind: .values(placeholder: "FEATURE"),
            help: "leaves a feature out: questions, conversations or notifications; repeatable", defaultText: "none"
        ) { configuration, values throws(InvalidValue) in
            configuration.leftOut = []
            for value in values {
                guard let feature = OptionalFeature(rawValue: value) else {
                    throw InvalidValue(value, "must be questions, conversations or notifications")
                }
                configuration.leftOut.insert(feature)
            }
        },
        .integer(
            "loops", \.loops, in: 1...1_024, .service, default: "the number of cores", "number of event loops"),
        .duration(
            "drain-timeout", \.drainTimeout, in: moment ... .seconds(3_600), .service,
            "longest time from SIGTERM to the exit"),
    ]

    private static func addresses(_ values: [String]) throws(InvalidValue) -> [ListenAddress] {
        var addresses: [ListenAddress] = []
        for value in values {
            let address = try ListenAddress(parsing: value)
            guard !addresses.contains(address) || address.takesFreePort else {
                throw InvalidValue(value, "the address is given twice")
            }
            addresses.append(address)
        }
        return addresses
    }

    private static let shared: [Setting<Configuration>] = [
        .duration(
            "presence-grace", \.presenceGrace, in: .zero ... .seconds(3_600), .schedule,
            "how long a person who has lost the connection still counts as present"),
        .duration(
            "address-retention", \.storage.addressRetention, in: .seconds(60)...day * 3_650, .schedule,
            "how long unused addresses, calendars, preferences, series, blocks and names are kept"),
        .boolean("echo", \.echo, .schedule, "/echo sends every WebSocket message back (for conformance suites)"),
    ]

    private static let limits: [Setting<Configuration>] = [
        .integer("max-connections", \.limits.maxConnections, in: 1...10_000_000, .limits, "maximum open connections"),
        .integer(
            "max-header-bytes", \.limits.http.headBytes, in: 512...65_535, .limits,
            "maximum bytes of an HTTP request's head"),
        .integer(
            "max-body-bytes", \.limits.http.bodyBytes, in: 1_024...16_777_216, .limits,
            "maximum bytes of an HTTP request's body"),
        .integer(
            "max-message-bytes", \.limits.maxMessageBytes, in: 128...16_777_216, .limits,
            "maximum bytes of a WebSocket message"),
        .integer(
            "min-compressed-bytes", \.limits.minCompressedBytes, in: 1...16_777_216, .limits,
            "smallest WebSocket message that is compressed, in bytes, if the peer supports it"),
        .integer(
            "send-queue-bytes", \.limits.sendQueueBytes, in: 1_024...268_435_456, .limits,
            "maximum bytes queued for one peer that doesn't read"),
        .integer(
            "max-subscriptions", \.cable.subscriptions, in: 1...1_000, .limits,
            "maximum subscriptions per Action Cable connection"),
        .integer(
            "max-cable-bytes", \.cable.messageBytes, in: 2_048...16_777_216, .limits,
            "maximum bytes of an Action Cable message"),
        .integer(
            "device-message-rate", \.cable.messageRate, in: 0...1_000_000, .limits,
            "maximum messages per second per device, except in /socket; bursts are tenfold; 0 for no limit"
        ),
    ]

    private static let waits: [Setting<Configuration>] = [
        .duration(
            "tls-handshake-timeout", \.limits.tlsHandshakeTimeout, in: moment ... .seconds(3_600), .waits,
            "longest time for the TLS handshake of a new connection"),
        .duration(
            "header-timeout", \.limits.headerTimeout, in: moment ... .seconds(3_600), .waits,
            "longest time for the head of a request"),
        .duration(
            "body-timeout", \.limits.bodyTimeout, in: moment ... .seconds(3_600), .waits,
            "longest time for the body of a request"),
        .duration(
            "keep-alive-timeout", \.limits.keepAliveTimeout, in: moment...day, .waits,
            "longest time between two requests on a connection"),
        .duration(
            "write-timeout", \.limits.writeTimeout, in: moment ... .seconds(3_600), .waits,
            "longest time for a peer to read the bytes queued for it"),
        .duration("ping-interval", \.limits.pingInterval, in: moment...day, .waits, "time between two WebSocket pings"),
        .duration(
            "pong-timeout", \.limits.pongTimeout, in: moment ... .seconds(3_600), .waits,
            "longest time for the pong to a ping"),
        .duration(
            "close-timeout", \.limits.closeTimeout, in: moment ... .seconds(3_600), .waits,
            "longest time for the peer's close frame"
        ),
    ]

    private static let databaseLimits: [Setting<Configuration>] = [
        .integer(
            "database-connections", \.postgres.maxConnections, in: 1...1_000, .database,
            "maximum connections for requests; reminders and deliveries use 8 more, or 10 with other daemons"),
        .duration(
            "database-timeout", \.postgres.queryTimeout, in: moment ... .seconds(3_600), .database,
            "longest time for one query"),
        .duration(
            "database-wait", \.postgres.stallTimeout, in: moment ... .seconds(60), .database,
            "longest time that a request waits for a silent database before its 503"),
    ]

    private static let log: [Setting<Configuration>] = [
        .text(
            "log-level", .log, placeholder: "LEVEL", default: Configuration().logLevel.rawValue,
            "least severe messages in the log: \(LogLevel.allCases.map(\.rawValue).joined(separator: ", "))"
        ) { configuration, value throws(InvalidValue) in
            guard let level = LogLevel(rawValue: value.lowercased()) else {
                let known = LogLevel.allCases.map(\.rawValue).joined(separator: ", ")
                throw InvalidValue(value, "must be one of \(known)")
            }
            configuration.logLevel = level
        },
        .text(
            "log-format", .log, placeholder: "FORMAT", default: "text on a terminal, otherwise json",
            "format of the log: text or json"
        ) { configuration, value throws(InvalidValue) in
            guard let format = LogFormat(rawValue: value.lowercased()) else {
                throw InvalidValue(value, "must be text or json")
            }
            configuration.logFormat = format
        },
    ]
}

extension ListenAddress {
    var takesFreePort: Bool {
        switch self {
        case .tcp(_, port: 0), .tls(_, port: 0): true
        default: false
        }
    }
}
