/// The providers that are configured, and what they take.
extension ProviderSettings {
    /// - Parameter addresses: Asked for secrets only.
    /// - Throws: ``APNsKeyError``.
    func providers(_ addresses: AddressStore) throws -> [any DeliveryProvider] {
        var providers: [any DeliveryProvider] = []
        if let webhook = WebhookProvider(webhook) { providers.append(webhook) }
        if let ntfy = NtfyProvider(ntfy, publicURL: publicURL) { providers.append(ntfy) }
        if let apns = try APNsProvider(apns) { providers.append(apns) }
        if let webPush = WebPushProvider(webPush, secret: addresses.secret) { providers.append(webPush) }
        return providers
    }

    /// Sockets that the providers may have open at once. A connection that is being made takes two: for two addresses of a name, or for
    /// the look-up of the name.
    package var descriptors: Int {
        var connections = 0
        if webhook.url != nil { connections += webhook.concurrency }
        if ntfy.server != nil { connections += ntfy.concurrency }
        // One to each, with many streams.
        if apns.keyFile != nil { connections += APNsProvider.hosts(apns).count }
        if webPush.contact != nil { connections += WebPushProvider.mostAtOnce }
        return 2 * connections
    }
}
