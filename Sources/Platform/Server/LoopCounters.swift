package import Sockets
import Wire

/// The counters of one event loop since its start. They are plain integers that belong to the loop. A request for the
/// counters adds up those of all loops.
package struct LoopCounters: Sendable {
    package var acceptedConnections = 0
    /// The number of connections that were accepted and immediately closed, because the server was full.
    package var refusedConnections = 0
    /// Connections, and requests through proxies, that were refused because their address had too many connections.
    package var connectionsOverAddressLimit = 0
    /// Connections refused because their address opened new ones too fast.
    package var rateLimitedConnections = 0
    /// Connections without the required PROXY header, or with one from an untrusted peer.
    package var refusedProxies = 0
    /// The number of completed TLS handshakes.
    package var tlsHandshakes = 0
    package var failedTLSHandshakes: [TLSHandshakeFailure: Int] = [:]
    /// WebSocket requests refused because of their address's rate.
    package var rateLimitedUpgrades = 0
    /// Other requests refused because of their address's rate.
    package var rateLimitedRequests = 0
    /// Writes refused because of their address's rate.
    package var rateLimitedWrites = 0
    /// Registrations refused because of their address's daily limit.
    package var rateLimitedRegistrations = 0
    /// WebSockets refused to pages of other origins.
    package var crossOriginUpgrades = 0
    /// Other requests by pages of other origins, refused because they could change something.
    package var crossOriginWrites = 0
    /// Requests for host names that this server doesn't have.
    package var refusedHosts = 0
    /// The number of times that a listening socket paused because descriptors or memory were exhausted.
    package var listenerRests = 0
    /// The number of responses, by status.
    package var responses: [Int: Int] = [:]
    package var openStreams = 0
    package var openWebSockets = 0
    package var openedWebSockets = 0
    /// The number of closed WebSockets, by close code. 1006 means connections without a close frame. 3000 and 4000 each
    /// stand for a thousand codes: those of libraries and those of applications.
    package var closedWebSockets: [UInt16: Int] = [:]
    package var receivedMessages = 0
    package var sentMessages = 0
    /// Messages that weren't sent because the peer's queue exceeded its limit.
    package var leftOutMessages = 0
    /// Received and sent messages that were compressed.
    package var receivedCompressedMessages = 0
    package var sentCompressedMessages = 0
    /// The number of peers that exceeded a time limit, by limit.
    package var timeouts: [TimeLimit: Int] = [:]
    /// Peers disconnected because they read too slowly.
    package var slowPeers = 0
    /// Peers disconnected because they sent too fast.
    package var rateLimitedPeers = 0

    package init() {}

    mutating func timedOut(_ limit: TimeLimit) {
        timeouts[limit, default: 0] += 1
    }

    mutating func closed(_ code: WebSocketCloseCode) {
        let group = code.rawValue < 3000 ? code.rawValue : code.rawValue / 1000 * 1000
        closedWebSockets[group, default: 0] += 1
    }

    package static func + (left: LoopCounters, right: LoopCounters) -> LoopCounters {
        var sum = left
        sum.acceptedConnections += right.acceptedConnections
        sum.refusedConnections += right.refusedConnections
        sum.connectionsOverAddressLimit += right.connectionsOverAddressLimit
        sum.rateLimitedConnections += right.rateLimitedConnections
        sum.refusedProxies += right.refusedProxies
        sum.tlsHandshakes += right.tlsHandshakes
        sum.failedTLSHandshakes.merge(right.failedTLSHandshakes, uniquingKeysWith: +)
        sum.rateLimitedUpgrades += right.rateLimitedUpgrades
        sum.rateLimitedRequests += right.rateLimitedRequests
        sum.rateLimitedWrites += right.rateLimitedWrites
        sum.rateLimitedRegistrations += right.rateLimitedRegistrations
        sum.crossOriginUpgrades += right.crossOriginUpgrades
        sum.crossOriginWrites += right.crossOriginWrites
        sum.refusedHosts += right.refusedHosts
        sum.listenerRests += right.listenerRests
        sum.responses.merge(right.responses, uniquingKeysWith: +)
        sum.openStreams += right.openStreams
        sum.openWebSockets += right.openWebSockets
        sum.openedWebSockets += right.openedWebSockets
        sum.closedWebSockets.merge(right.closedWebSockets, uniquingKeysWith: +)
        sum.receivedMessages += right.receivedMessages
        sum.sentMessages += right.sentMessages
        sum.leftOutMessages += right.leftOutMessages
        sum.receivedCompressedMessages += right.receivedCompressedMessages
        sum.sentCompressedMessages += right.sentCompressedMessages
        sum.timeouts.merge(right.timeouts, uniquingKeysWith: +)
        sum.slowPeers += right.slowPeers
        sum.rateLimitedPeers += right.rateLimitedPeers
        return sum
    }
}
