import Features
import Server
import Wire

/// The settings of clients behind proxies and in browsers.
extension SettingTable {
    static let network: [Setting<Configuration>] = [
        list(
            "trusted-proxies", placeholder: "NETWORK", default: "loopback,unix",
            "trusted proxies (X-Forwarded-For, PROXY): 10.0.0.0/8, loopback, unix, none; a list"
        ) { configuration, values throws(InvalidValue) in
            var networks = TrustedNetworks()
            for value in values where !networks.insert(value) {
                throw InvalidValue(
                    value, "must be a network like 10.0.0.0/8 or 2001:db8::/32, or loopback, unix or none")
            }
            configuration.trustedProxies = networks
        },
        .boolean(
            "proxy-protocol", \.proxyProtocol, .network,
            "requires a PROXY header, v1 or v2, from a trusted proxy on every connection"),
        list(
            "hosts", placeholder: "NAME", default: "this machine's and --public-url's",
            "list of further host names: example.org, *.example.org, * for all"
        ) { configuration, values throws(InvalidValue) in
            var hosts = AllowedHosts()
            for value in values where !hosts.insert(value) {
                throw InvalidValue(
                    host: value, "must be a host name like example.org or *.example.org, without a port, or * for all")
            }
            configuration.hosts = hosts
        },
        list(
            "allowed-origins", placeholder: "ORIGIN", default: "the server's own",
            "list of origins to allow: https://example.org, https://*.example.org, or * for all"
        ) { configuration, values throws(InvalidValue) in
            var origins = AllowedOrigins()
            for value in values where !origins.insert(value) {
                throw InvalidValue(
                    host: value,
                    "must be an origin like https://example.org or https://*.example.org, without a path, or * for all")
            }
            configuration.allowedOrigins = origins
        },
    ]

    static let addressLimits: [Setting<Configuration>] = [
        .integer(
            "max-connections-per-address", \.limits.maxConnectionsPerAddress, in: 0...10_000_000, .limits,
            "maximum open connections per address, and never more than a quarter of all; 0 for no limit"),
        .integer(
            "connection-rate", \.limits.connectionRate, in: 0...1_000_000, .limits,
            "maximum new connections per second from one address; 0 for no limit"),
        .integer(
            "upgrade-rate", \.limits.upgradeRate, in: 0...1_000_000, .limits,
            "maximum WebSocket handshakes per second from one address; 0 for no limit"),
        .integer(
            "request-rate", \.limits.requestRate, in: 0...1_000_000, .limits,
            "maximum other requests per second from one address; 0 for no limit"),
        .integer(
            "write-rate", \.limits.writeRate, in: 0...1_000_000, .limits,
            "maximum of these requests per second that aren't GET, HEAD or OPTIONS; 0 for no limit"),
        .duration(
            "address-burst", \.limits.addressBurst, in: .seconds(1) ... .seconds(3_600), .limits,
            "burst: what these four rates allow within this time may come at once"),
        .integer(
            "registrations-per-day", \.limits.registrationsPerDay, in: 0...100_000_000, .limits,
            "maximum registrations per day from one address, such as tasks and names; 0 for no limit"),
        .integer(
            "names-per-hour", \.limits.namesPerHour, in: 0...1_000_000, .limits,
            "maximum new names in conversations per hour from one address; 0 for no limit"),
        .integer(
            "messages-per-day", \.limits.messagesPerDay, in: 0...100_000_000, .limits,
            "maximum questions, votes and messages per day from one address; 0 for no limit"),
        .integer(
            "message-rate", \.limits.messageRate, in: 0...1_000_000, .limits,
            "maximum messages per second on one WebSocket; bursts are twice as large; 0 for no limit"),
    ]

    /// A repeatable flag. Each value may be a list separated by commas or spaces, as in the variable.
    private static func list(
        _ name: String, placeholder: String, default text: String, _ help: String,
        _ apply: @escaping @Sendable (inout Configuration, [Substring]) throws(InvalidValue) -> Void
    ) -> Setting<Configuration> {
        Setting(
            name: name, section: .network, kind: .values(placeholder: placeholder), help: help, defaultText: text
        ) { configuration, values throws(InvalidValue) in
            let elements = values.flatMap { $0.split(whereSeparator: { $0 == "," || $0.isWhitespace }) }
            guard !elements.isEmpty else { throw InvalidValue("", "must not be empty") }
            try apply(&configuration, elements)
        }
    }
}

/// The settings of listeners that use TLS.
extension SettingTable {
    static let tls: [Setting<Configuration>] = [
        file(
            "tls-certificate", \.tlsCertificate,
            "the certificate and its chain, in PEM; read again on SIGHUP"
        ).mayBeCredential,
        file("tls-key", \.tlsKey, "the certificate's private key, in PEM").mayBeCredential,
        .duration(
            "hsts", \.strictTransport, in: .zero ... .seconds(3_650 * 86_400), .tls,
            "how long browsers must use TLS for this host, on every port; 0 doesn't require it"),
    ]

    private static func file(
        _ name: String, _ field: Setting<Configuration>.Field<String?>, _ help: String
    ) -> Setting<Configuration> {
        .text(name, .tls, placeholder: "FILE", default: "none", help) { configuration, value throws(InvalidValue) in
            guard !value.isEmpty else { throw InvalidValue(value, "must not be empty") }
            configuration[keyPath: field] = value
        }
    }
}
