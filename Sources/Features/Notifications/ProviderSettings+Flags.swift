package import Domain
package import Features

/// The flags of the providers. Secrets can be in a file, and error messages never repeat them.
extension ProviderSettings {
    package static let settings: [Setting<ProviderSettings>] =
        [
            .text(
                "public-url", .providers, placeholder: "URL", default: "none",
                "public address of this server, without a path, for links: https://example.org"
            ) { settings, value throws(InvalidValue) in
                settings.publicURL = try publicURL(value)
            }
        ] + webhookFlags + ntfyFlags + apnsFlags + webPushFlags

    /// The quota of the table of addresses.
    package static let storage: [Setting<StorageLimits>] = [
        .integer(
            "max-stored-addresses", \.addresses, in: 1...1_000_000_000, .limits,
            "maximum stored push tokens, browser subscriptions and ntfy topics")
    ]

    private static let webhookFlags: [Setting<ProviderSettings>] = [
        .text(
            "webhook-url", .providers, placeholder: "URL", default: "none",
            "URL that every event is posted to, signed by Standard Webhooks"
        ) { settings, value throws(InvalidValue) in
            settings.webhook.url = try url(value)
        },
        Setting(
            name: "webhook-secret", section: .providers, kind: .values(placeholder: "SECRET"),
            help: "secret for the signature: whsec_ and 24 to 64 bytes in base64; two during a rotation",
            defaultText: "none"
        ) { settings, values throws(InvalidValue) in
            settings.webhook.secrets = try webhookSecrets(values.joined(separator: " "))
        }.allowedInFile,
        .integer(
            "webhook-concurrency", \.webhook.concurrency, in: 1...1024, .providers,
            "maximum concurrent requests; deliveries other than reminders use at most half"),
        .integer(
            "webhook-batch", \.webhook.batch, in: 1...LeaseLimits.perStatement, .providers,
            "maximum events per request; above 1, each body is an array"),
        .providerFile(
            "webhook-ca", \.webhook.caFile, "certificate authorities to trust instead of the system's, in PEM"
        ),
    ]

    private static let ntfyFlags: [Setting<ProviderSettings>] = [
        .text(
            "ntfy-server", .providers, placeholder: "URL", default: "none",
            "ntfy server that delivers reminders to phones: https://ntfy.sh"
        ) { settings, value throws(InvalidValue) in
            settings.ntfy.server = try baseURL(value)
        },
        .text(
            "ntfy-token", .providers, placeholder: "TOKEN", default: "none",
            "access token for the ntfy server, if it requires one"
        ) { settings, value throws(InvalidValue) in
            settings.ntfy.token = try ntfyToken(value)
        }.allowedInFile,
        .integer(
            "ntfy-concurrency", \.ntfy.concurrency, in: 1...1024, .providers,
            "maximum concurrent requests; deliveries other than reminders use at most half"),
        .providerFile(
            "ntfy-ca", \.ntfy.caFile, "certificate authorities to trust instead of the system's, in PEM"),
    ]

    private static func webhookSecrets(_ text: String) throws(InvalidValue) -> [WebhookSecret] {
        var secrets: [WebhookSecret] = []
        for part in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            guard let secret = WebhookSecret(part) else {
                throw InvalidValue(secret: "a secret must be whsec_ followed by 24 to 64 bytes in base64")
            }
            secrets.append(secret)
        }
        guard !secrets.isEmpty, secrets.count <= WebhookSecret.mostAtOnce else {
            throw InvalidValue(secret: "must have 1 to \(WebhookSecret.mostAtOnce) secrets")
        }
        return secrets
    }

    private static func ntfyToken(_ text: String) throws(InvalidValue) -> String {
        guard !text.isEmpty, text.utf8.count <= 1024, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw InvalidValue(secret: "a token must have 1 to 1024 ASCII characters, without spaces")
        }
        return text
    }

    // MARK: For all providers

    /// Checks an absolute `http` or `https` URL.
    static func url(_ text: String) throws(InvalidValue) -> String {
        guard let parts = ProviderURL(text) else {
            throw InvalidValue(host: text, "must be a URL like https://example.org/path")
        }
        guard !parts.hasCredentials else {
            throw InvalidValue(secret: "the URL must not contain a user name or a password")
        }
        return text
    }

    /// Checks a base URL, to which paths are added. It must have no query and no fragment. Slashes at its end are
    /// removed.
    static func baseURL(_ text: String) throws(InvalidValue) -> String {
        var text = try url(text)
        guard !text.contains("?"), !text.contains("#") else {
            throw InvalidValue(text, "the URL must not have a query or a fragment")
        }
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }

    /// Checks the server's own address, and removes a slash at its end. The address can't have a path, because the
    /// pages name their files, sockets and routes by absolute paths.
    private static func publicURL(_ text: String) throws(InvalidValue) -> String {
        let url = try baseURL(text)
        guard url.split(separator: "/", omittingEmptySubsequences: false).count == 3 else {
            throw InvalidValue(
                text,
                "must have no path, because pages and sockets are at the root of a host name; "
                    + "give the server a host name or a port of its own, like https://switch.example.org")
        }
        guard !url.contains("*") else { throw InvalidValue(text, "must name one host, without an asterisk") }
        return url
    }
}

/// The kinds of settings that providers share.
extension Setting<ProviderSettings> {
    static func providerFile(_ name: String, _ field: Field<String?>, _ help: String) -> Setting {
        text(name, .providers, placeholder: "FILE", default: "none", help) {
            settings, value throws(InvalidValue) in
            guard !value.isEmpty else { throw InvalidValue(value, "must not be empty") }
            settings[keyPath: field] = value
        }
    }
}
