import Features
import Wire

/// The settings of the providers. All providers are off by default.
package struct ProviderSettings: SettingValues, Equatable {
    /// The `User-Agent` of requests.
    static let agent = "letsswitchd"

    /// The address of this server for links, such as `https://example.org`, without a slash at the end.
    package var publicURL: String?
    package var webhook = WebhookSettings()
    package var ntfy = NtfySettings()
    package var apns = APNsSettings()
    package var webPush = WebPushSettings()

    package init() {}

    /// The providers that are on.
    package var names: [ProviderName] {
        var names: [ProviderName] = []
        if webhook.url != nil { names.append(.webhook) }
        if ntfy.server != nil { names.append(.ntfy) }
        if apns.keyFile != nil { names.append(.apns) }
        if webPush.contact != nil { names.append(.webPush) }
        return names
    }
}

/// The settings `--webhook-…`.
package struct WebhookSettings: Sendable, Equatable {
    /// The URL that receives all events. `nil` switches the webhook off.
    package var url: String?
    /// The secrets that sign messages. At least one is required, and several can be used while one replaces another.
    package var secrets: [WebhookSecret] = []
    /// The maximum number of requests in flight.
    package var concurrency = 32
    /// The maximum number of events in one request. With more than one, each request's body is an array.
    package var batch = 1
    /// A PEM file of trusted certificate authorities. Replaces those of the system.
    package var caFile: String?
}

/// The settings `--ntfy-…`.
package struct NtfySettings: Sendable, Equatable {
    /// The ntfy server, such as `https://ntfy.sh`, without a slash at the end. `nil` switches ntfy off.
    package var server: String?
    /// An access token, for servers that require one.
    package var token: String?
    /// The maximum number of requests in flight. The public server accepts 60 messages at once, and then one every 5
    /// seconds.
    package var concurrency = 8
    /// A PEM file of trusted certificate authorities. Replaces those of the system.
    package var caFile: String?
}

/// The settings `--apns-…`.
package struct APNsSettings: Sendable, Equatable {
    /// The file of the provider's signing key from Apple (`AuthKey_….p8`). `nil` switches APNs off.
    package var keyFile: String?
    /// The key's identifier: ten characters.
    package var keyId: String?
    /// The developer team's identifier: ten characters.
    package var teamId: String?
    /// The app's bundle identifier.
    package var topic: String?
    /// Replaces Apple's two hosts.
    package var url: String?
    /// A PEM file of trusted certificate authorities. Replaces those of the system.
    package var caFile: String?
}

/// The settings `--web-push-…`.
package struct WebPushSettings: Sendable, Equatable {
    /// The contact for push services: `mailto:…` or `https:…`. `nil` switches Web Push off.
    package var contact: String?
    /// Whether subscriptions may have private addresses and plain `http`. For tests, and for push services of your own.
    package var allowsPrivateAddresses = false
    /// A PEM file of trusted certificate authorities. Replaces those of the system.
    package var caFile: String?
}

/// The signing secret of the webhook (Standard Webhooks): `whsec_` and 24 to 64 bytes in base64. Never printed.
package struct WebhookSecret: Sendable, Hashable, CustomStringConvertible {
    /// The maximum number of secrets, and so of signatures of a request, while secrets are replaced.
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
