import Wire

/// What the providers are told to do. Without any of it there are none.
package struct ProviderSettings: Sendable, Equatable {
    /// As the servers that it asks know the daemon: `User-Agent`.
    static let agent = "letsswitchd"

    /// Where people reach this server from outside: `https://example.org`, without a slash at the end. For links.
    package var publicURL: String?
    package var webhook = WebhookSettings()
    package var ntfy = NtfySettings()
    package var apns = APNsSettings()
    package var webPush = WebPushSettings()

    package init() {}

    /// Those that are on.
    package var names: [ProviderName] {
        var names: [ProviderName] = []
        if webhook.url != nil { names.append(.webhook) }
        if ntfy.server != nil { names.append(.ntfy) }
        if apns.keyFile != nil { names.append(.apns) }
        if webPush.contact != nil { names.append(.webPush) }
        return names
    }
}

/// `--webhook-…`.
package struct WebhookSettings: Sendable, Equatable {
    /// On when it is given.
    package var url: String?
    /// One at least; several while they rotate.
    package var secrets: [WebhookSecret] = []
    /// Requests that may be under way at once.
    package var concurrency = 32
    /// Events that one request bears at most. More than one: each request's body is an array.
    package var batch = 1
    /// Whom to trust instead of the system's authorities: a file in PEM.
    package var caFile: String?
}

/// `--ntfy-…`.
package struct NtfySettings: Sendable, Equatable {
    /// On when it is given: `https://ntfy.sh`, without a slash at the end.
    package var server: String?
    /// An access token, for servers that ask for one.
    package var token: String?
    /// Requests that may be under way at once. The public server takes 60 messages at once, and then one each 5 seconds.
    package var concurrency = 8
    /// Whom to trust instead of the system's authorities: a file in PEM.
    package var caFile: String?
}

/// `--apns-…`.
package struct APNsSettings: Sendable, Equatable {
    /// The provider's signing key, as Apple hands it out (`AuthKey_….p8`). On when it is given.
    package var keyFile: String?
    /// The key's identifier: ten characters.
    package var keyId: String?
    /// The developer team's: ten characters.
    package var teamId: String?
    /// The app's bundle identifier.
    package var topic: String?
    /// Instead of Apple's two hosts.
    package var url: String?
    /// Whom to trust instead of the system's authorities: a file in PEM.
    package var caFile: String?
}

/// `--web-push-…`.
package struct WebPushSettings: Sendable, Equatable {
    /// Whom push services may ask when something is wrong: `mailto:…` or `https:…`. On when it is given.
    package var contact: String?
    /// Whether subscriptions may name addresses that the internet doesn't route, and plain `http`: for tests and for push services
    /// of one's own.
    package var allowsPrivateAddresses = false
    /// Whom to trust instead of the system's authorities: a file in PEM.
    package var caFile: String?
}

/// What a webhook is signed with (Standard Webhooks): `whsec_` and 24 to 64 bytes in base64. Never printed.
package struct WebhookSecret: Sendable, Hashable, CustomStringConvertible {
    /// Signatures that one request bears, while secrets rotate.
    package static let mostAtOnce = 4
    private static let prefix = "whsec_"

    let bytes: [UInt8]

    package init?(_ text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix), let bytes = Base64.decode(text.dropFirst(Self.prefix.count)),
            (24...64).contains(bytes.count)
        else { return nil }
        self.bytes = bytes
    }

    package var description: String { "whsec_…" }
}
