/// What the channels are told to do. Without any of it there are none.
package struct ChannelSettings: Sendable, Equatable {
    /// Where people reach this server from outside: `https://example.org`, without a slash at the end. For links.
    package var publicURL: String?
    package var webhook = WebhookSettings()
    package var ntfy = NtfySettings()
    package var apns = APNsSettings()
    package var webPush = WebPushSettings()

    package init() {}

    /// Those that are on.
    package var names: [ChannelName] {
        var names: [ChannelName] = []
        if webhook.url != nil { names.append(.webhook) }
        if ntfy.server != nil { names.append(.ntfy) }
        if apns.keyFile != nil { names.append(.apns) }
        if webPush.contact != nil { names.append(.webPush) }
        return names
    }

    /// What no single value shows.
    ///
    /// - Throws: ``UsageError`` naming the flags.
    func checkCombinations() throws(UsageError) {
        switch (webhook.url, webhook.secrets.isEmpty) {
        case (.some, true): throw UsageError("--webhook-url: --webhook-secret is missing")
        case (nil, false): throw UsageError("--webhook-secret: --webhook-url is missing")
        default: break
        }
        if ntfy.token != nil, ntfy.server == nil { throw UsageError("--ntfy-token: --ntfy-server is missing") }
        try apns.check()
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
    /// Whom to trust instead of the system's authorities: a file in PEM.
    package var caFile: String?
}
