package import Sockets
import Wire

/// What one event loop has counted since it started. Plain integers: they belong to the loop, and are added up over the
/// loops when somebody asks.
package struct LoopCounters: Sendable {
    package var acceptedConnections = 0
    /// Connections closed at once because the server was full.
    package var refusedConnections = 0
    /// Connections, and requests of proxied ones, refused because their address had too many connections.
    package var connectionsOverAddressLimit = 0
    /// Connections refused because their address made new ones too fast.
    package var rateLimitedConnections = 0
    /// Connections without the PROXY header that they had to have, or of peers that may not send one.
    package var refusedProxies = 0
    /// TLS handshakes that were completed.
    package var tlsHandshakes = 0
    package var failedTLSHandshakes: [TLSHandshakeFailure: Int] = [:]
    /// Attempts at a WebSocket refused because their address made too many.
    package var rateLimitedUpgrades = 0
    /// Other requests refused because their address made too many.
    package var rateLimitedRequests = 0
    /// Those refused because their address wrote too much.
    package var rateLimitedWrites = 0
    /// Those refused because their address has registered too much in a day.
    package var rateLimitedRegistrations = 0
    /// WebSockets refused to pages of other origins.
    package var crossOriginUpgrades = 0
    /// Other requests of theirs that would have changed something.
    package var crossOriginWrites = 0
    /// Requests for hosts that aren't ours.
    package var refusedHosts = 0
    /// Times that the listener rested because descriptors or memory were used up.
    package var listenerRests = 0
    /// By status.
    package var responses: [Int: Int] = [:]
    package var openStreams = 0
    package var openWebSockets = 0
    package var openedWebSockets = 0
    /// By close code; 1006 stands for connections that ended without one, 3000 and 4000 for all codes of libraries and of
    /// applications: of those a peer has two thousand to choose from.
    package var closedWebSockets: [UInt16: Int] = [:]
    package var receivedMessages = 0
    package var sentMessages = 0
    /// Those of the messages sent that were left out in the end: more waited for the peer than may.
    package var leftOutMessages = 0
    /// Those of the messages that came, and went, compressed.
    package var receivedCompressedMessages = 0
    package var sentCompressedMessages = 0
    /// Peers that took longer than they may.
    package var timeouts: [TimeLimit: Int] = [:]
    /// Peers cut off because they read too slowly.
    package var slowPeers = 0
    /// Peers cut off because they sent too fast.
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
