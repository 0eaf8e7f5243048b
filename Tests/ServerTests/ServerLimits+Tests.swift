import Server

extension ServerLimits {
    /// Waits that no busy machine exhausts: a test that is about one sets it.
    static var patient: ServerLimits {
        var limits = ServerLimits()
        limits.tlsHandshakeTimeout = .seconds(120)
        limits.headerTimeout = .seconds(120)
        limits.bodyTimeout = .seconds(120)
        limits.writeTimeout = .seconds(120)
        limits.pongTimeout = .seconds(120)
        limits.closeTimeout = .seconds(120)
        return limits
    }
}
