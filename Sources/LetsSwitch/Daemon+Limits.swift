import Server
import Wire

extension Daemon {
    /// What peers may take, as the settings and the system's limits have it.
    var limits: ServerLimits {
        var limits = ServerLimits()
        limits.http = HTTPLimits(headBytes: configuration.maxHeaderBytes, bodyBytes: configuration.maxBodyBytes)
        limits.maxConnections = affordableConnections()
        // Where descriptors are few, one address could else have them all.
        limits.maxConnectionsPerAddress = min(configuration.maxConnectionsPerAddress, limits.maxConnections / 4)
        limits.connectionRate = configuration.connectionRate
        limits.upgradeRate = configuration.upgradeRate
        limits.requestRate = configuration.requestRate
        limits.writeRate = configuration.writeRate
        limits.registrationsPerDay = configuration.registrationsPerDay
        limits.messageRate = configuration.messageRate
        limits.tlsHandshakeTimeout = configuration.tlsHandshakeTimeout
        limits.headerTimeout = configuration.headerTimeout
        limits.bodyTimeout = configuration.bodyTimeout
        limits.keepAliveTimeout = configuration.keepAliveTimeout
        limits.writeTimeout = configuration.writeTimeout
        limits.sendQueueBytes = configuration.sendQueueBytes
        limits.maxMessageBytes = configuration.maxMessageBytes
        limits.minCompressedBytes = configuration.minCompressedBytes
        limits.pingInterval = configuration.pingInterval
        limits.pongTimeout = configuration.pongTimeout
        limits.closeTimeout = configuration.closeTimeout
        return limits
    }
}
