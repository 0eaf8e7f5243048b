extension Configuration {
    /// Descriptors that clients' connections leave: the database's (requests', two pools of two, LISTEN's), the channels',
    /// listeners', files'.
    var reservedDescriptors: Int {
        64 + databaseConnections + 5 + channels.descriptors
    }
}

extension ChannelSettings {
    /// Sockets that the channels may have open at once. A connection that is being made takes two: for two addresses of a name, or for
    /// the look-up of the name.
    var descriptors: Int {
        var connections = 0
        if webhook.url != nil { connections += webhook.concurrency }
        if ntfy.server != nil { connections += NtfyChannel.mostAtOnce }
        // One to each, with many streams.
        if apns.keyFile != nil { connections += APNsChannel.hosts(apns).count }
        if webPush.contact != nil { connections += WebPushChannel.mostAtOnce }
        return 2 * connections
    }
}
