import Server

extension ServerLimits {
    /// Waits that no busy machine exhausts, and rates without a hall's burst: a test that is about one of them sets it.
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
