/// The configured providers, and their use of sockets.
extension ProviderSettings {
    /// - Parameter addresses: Used only for secrets.
    /// - Throws: ``APNsKeyError``.
    func providers(_ addresses: AddressStore) throws -> [any DeliveryProvider] {
        var providers: [any DeliveryProvider] = []
        if let webhook = WebhookProvider(webhook) { providers.append(webhook) }
        if let ntfy = NtfyProvider(ntfy, publicURL: publicURL) { providers.append(ntfy) }
        if let apns = try APNsProvider(apns) { providers.append(apns) }
        if let webPush = WebPushProvider(webPush, secret: addresses.secret) { providers.append(webPush) }
        return providers
    }

    /// The maximum number of open sockets of the providers. A connection being opened takes two: for two addresses of a
    /// name, or for the name lookup.
    package var descriptors: Int {
        var connections = 0
        if webhook.url != nil { connections += webhook.concurrency }
        if ntfy.server != nil { connections += ntfy.concurrency }
        // One connection to each host, with many streams.
        if apns.keyFile != nil { connections += APNsProvider.hosts(apns).count }
        if webPush.contact != nil { connections += WebPushProvider.mostAtOnce }
        return 2 * connections
    }
}
