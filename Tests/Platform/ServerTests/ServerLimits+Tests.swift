import Server

extension ServerLimits {
    /// Limits that no test reaches by accident: very long waits and rates without a burst for audiences. A test sets
    /// the limit that it is about.
    static var patient: ServerLimits {
        var limits = ServerLimits()
        limits.tlsHandshakeTimeout = .seconds(120)
        limits.headerTimeout = .seconds(120)
        limits.bodyTimeout = .seconds(120)
        limits.writeTimeout = .seconds(120)
        limits.pongTimeout = .seconds(120)
        limits.closeTimeout = .seconds(120)
        limits.addressBurst = .seconds(1)
        return limits
    }
}
