import Server
import Wire

/// The settings about who is at the other end: behind proxies, and in browsers.
extension Setting {
    static let network: [Setting] = [
        list(
            "trusted-proxies", placeholder: "NETWORK", default: "loopback,unix",
            "whose X-Forwarded-For and PROXY headers count: 10.0.0.0/8, loopback, unix, none"
        ) { configuration, values throws(InvalidValue) in
            var networks = TrustedNetworks()
            for value in values where !networks.insert(value) {
                throw InvalidValue(value, "a network is written 10.0.0.0/8 or 2001:db8::/32; or loopback, unix, none")
            }
            configuration.trustedProxies = networks
        },
        boolean(
            "proxy-protocol", \.proxyProtocol, .network,
            "every connection begins with a PROXY header, v1 or v2, from a trusted proxy"),
        list(
            "hosts", placeholder: "NAME", default: "this machine's, --public-url's",
            "further names that requests may be for; or *; a list"
        ) { configuration, values throws(InvalidValue) in
            var hosts = AllowedHosts()
            for value in values where !hosts.insert(value) {
                throw InvalidValue(value, "a host is written example.org, without a port; or * for all")
            }
            configuration.hosts = hosts
        },
        list(
            "allowed-origins", placeholder: "ORIGIN", default: "the server's own",
            "whose pages may use it from a browser: https://example.org, or *; a list"
        ) { configuration, values throws(InvalidValue) in
            var origins = AllowedOrigins()
            for value in values where !origins.insert(value) {
                throw InvalidValue(value, "an origin is written https://example.org, without a path; or * for all")
            }
            configuration.allowedOrigins = origins
        },
    ]

    static let addressLimits: [Setting] = [
        integer(
            "max-connections-per-address", \.limits.maxConnectionsPerAddress, in: 0...10_000_000, .limits,
            "open connections of one address, a quarter of all at most; 0 for any number"),
        integer(
            "connection-rate", \.limits.connectionRate, in: 0...1_000_000, .limits,
            "new connections of one address a second; 0 for any number"),
        integer(
            "upgrade-rate", \.limits.upgradeRate, in: 0...1_000_000, .limits,
            "attempts of one address at a WebSocket a second; 0 for any number"),
        integer(
            "request-rate", \.limits.requestRate, in: 0...1_000_000, .limits,
            "other requests of one address a second; 0 for any number"),
        integer(
            "write-rate", \.limits.writeRate, in: 0...1_000_000, .limits,
            "those that are no GET, HEAD or OPTIONS a second; 0 for any number"),
        duration(
            "address-burst", \.limits.addressBurst, in: .seconds(1) ... .seconds(3_600), .limits,
            "what comes at these four rates in so long may come at once"),
        integer(
            "registrations-per-day", \.limits.registrationsPerDay, in: 0...100_000_000, .limits,
            "what one address registers a day, as tasks and names; 0 for any number"),
        integer(
            "names-per-hour", \.limits.namesPerHour, in: 0...1_000_000, .limits,
            "new names in conversations of one address an hour; 0 for any number"),
        integer(
            "messages-per-day", \.limits.messagesPerDay, in: 0...100_000_000, .limits,
            "questions, votes, messages of one address a day; 0 for any number"),
        integer(
            "message-rate", \.limits.messageRate, in: 0...1_000_000, .limits,
            "messages of one peer a second, twice as many at once; 0 for any number"),
    ]

    /// A repeatable flag, each of whose values may hold several, split by commas or spaces as in the variable.
    private static func list(
        _ name: String, placeholder: String, default text: String, _ help: String,
        _ apply: @escaping @Sendable (inout Configuration, [Substring]) throws(InvalidValue) -> Void
    ) -> Setting {
        Setting(
            name: name, section: .network, kind: .values(placeholder: placeholder), help: help, defaultText: text
        ) { configuration, values throws(InvalidValue) in
            let elements = values.flatMap { $0.split(whereSeparator: { $0 == "," || $0.isWhitespace }) }
            guard !elements.isEmpty else { throw InvalidValue("", "a list is wanted") }
            try apply(&configuration, elements)
        }
    }
}

/// The settings of the listeners that speak TLS.
extension Setting {
    static let tls: [Setting] = [
        file(
            "tls-certificate", \.tlsCertificate,
            "the certificate and those up to the root, in PEM; read again on SIGHUP"
        ).mayBeCredential,
        file("tls-key", \.tlsKey, "its key, in PEM").mayBeCredential,
        duration(
            "hsts", \.strictTransport, in: .zero ... .seconds(3_650 * 86_400), .tls,
            "how long browsers use nothing but TLS with this host, on any port; 0 leaves it to them"),
    ]

    private static func file(_ name: String, _ field: Field<String?>, _ help: String) -> Setting {
        text(name, .tls, placeholder: "FILE", default: "none", help) { configuration, value throws(InvalidValue) in
            guard !value.isEmpty else { throw InvalidValue(value, "a file is wanted") }
            configuration[keyPath: field] = value
        }
    }
}
