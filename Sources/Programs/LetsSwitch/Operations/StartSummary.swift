import Access
import Daemons
import Features
import Matches
import Notifications
import Observability
import Questions
import Server
import Settings
import Wire

/// The values of the log line `started`: the features that are on, the addresses, and the settings that are missing for
/// reminders to reach people.
struct StartSummary {
    private let configuration: Configuration
    private let endpoints: [ServerEndpoint]
    private let database: String
    private let isDatabaseReady: Bool

    /// - Parameter database: The name of the database in the log.
    init(
        _ configuration: Configuration, endpoints: [ServerEndpoint], database: String, isDatabaseReady: Bool
    ) {
        self.configuration = configuration
        self.endpoints = endpoints
        self.database = database
        self.isDatabaseReady = isDatabaseReady
    }

    var values: Log.Values {
        [
            "listen": Self.list(endpoints.filter { $0.audience != .operators }.map(\.description), else: "nowhere"),
            "operations": Self.list(endpoints.filter { $0.audience == .operators }.map(\.description), else: "none"),
            "publicURL": .string(configuration.providers.publicURL ?? "none"),
            "database": .string(database), "databaseReady": .bool(isDatabaseReady),
            "providers": Self.list(configuration.providers.names.map(\.rawValue), else: "none"),
            "bus": .string(configuration.bus.rawValue),
            "on": Self.list(features, else: "nothing else"),
            "missing": Self.list(missing, separator: "; ", else: "nothing"),
        ]
    }

    private var features: [String] {
        let features =
            OptionalFeature.allCases.map { ($0.rawValue, !configuration.leftOut.contains($0)) } + [
                ("bridge", configuration.amqpURL != nil && !configuration.leftOut.contains(.conversations)),
                ("tickets", !configuration.tickets.secrets.isEmpty),
                ("required tickets", configuration.tickets.areRequired),
                ("open questions", configuration.questions.hasOpenSession),
                ("open rooms", configuration.matches.openRooms),
                ("echo", configuration.echo),
            ]
        return features.filter(\.1).map(\.0)
    }

    /// The settings that are missing for reminders and links to reach people. Each element names the flags and the
    /// effect.
    var missing: [String] {
        var missing: [String] = []
        let providers = configuration.providers
        if !isDatabaseReady { missing.append("the database isn't ready yet, so no reminder is sent") }
        if providers.names.isEmpty, !configuration.leftOut.contains(.notifications) {
            missing.append(
                """
                --web-push-contact, --ntfy-server, --apns-key or --webhook-url, because without a provider reminders reach only \
                open pages and apps
                """)
        }
        if let url = providers.publicURL.flatMap({ ProviderURL($0) }) {
            if providers.webPush.contact != nil, url.scheme == "http", url.host != "localhost",
                IPAddress(url.host)?.isLoopback != true
            {
                missing.append("https in --public-url, because browsers allow Web Push only there")
            }
        } else if !configuration.openAddresses.isEmpty, !configuration.namesHost {
            missing.append(
                "--public-url, because requests for this server's public name are refused, and links have no address")
        } else if !configuration.openAddresses.isEmpty || !providers.names.isEmpty {
            missing.append("--public-url, because links in messages have no address")
        }
        return missing
    }

    private static func list(_ elements: [String], separator: String = ", ", else none: String) -> LogValue {
        .string(elements.isEmpty ? none : elements.joined(separator: separator))
    }
}
