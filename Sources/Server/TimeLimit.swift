/// A wait that came to its end before the peer did what it was to do. Named by the daemon's flags.
package enum TimeLimit: String, Sendable, CaseIterable {
    case header = "header-timeout"
    case body = "body-timeout"
    case keepAlive = "keep-alive-timeout"
    case write = "write-timeout"
    case pong = "pong-timeout"
    case close = "close-timeout"
}
