/// The configured providers, and the number of their sockets.
extension ProviderSettings {
    /// Creates the configured providers.
    ///
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

    /// The maximum number of open sockets of the providers. Opening a connection may take two sockets: for two
    /// addresses of a name, or for the name lookup.
    package var descriptors: Int {
        var connections = 0
        if webhook.url != nil { connections += webhook.concurrency }
        if ntfy.server != nil { connections += ntfy.concurrency }
        // APNs uses one connection with many streams to each host.
        if apns.keyFile != nil { connections += APNsProvider.hosts(apns).count }
        if webPush.contact != nil { connections += WebPushProvider.mostAtOnce }
        return 2 * connections
    }
}
