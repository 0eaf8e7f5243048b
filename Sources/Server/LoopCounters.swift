package import Sockets
import Wire

/// What one event loop has counted since it started. Plain integers: they belong to the loop, and are added up over the
/// loops when somebody asks.
package struct LoopCounters: Sendable {
    package var acceptedConnections = 0
    /// Connections closed at once because the server was full.
    package var refusedConnections = 0
    /// Connections, and requests of proxied ones, refused because their address had too many connections.
    package var crowdedAddresses = 0
    /// Connections refused because their address made new ones too fast.
    package var hastyAddresses = 0
    /// Connections without the PROXY header that they had to have, or of peers that may not send one.
    package var refusedProxies = 0
    /// TLS handshakes that were completed.
    package var tlsHandshakes = 0
    package var failedTLSHandshakes: [TLSHandshakeFailure: Int] = [:]
    /// Attempts at a WebSocket refused because their address made too many.
    package var refusedUpgrades = 0
    /// Other requests refused because their address made too many.
    package var hastyRequests = 0
    /// Those refused because their address wrote too much.
    package var hastyWrites = 0
    /// Those refused because their address has registered too much in a day.
    package var hastyRegistrations = 0
    /// WebSockets refused to pages of other origins.
    package var refusedOrigins = 0
    /// Other requests of theirs that would have changed something.
    package var refusedWrites = 0
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
    /// Those of the messages that came, and went, compressed.
    package var receivedCompressedMessages = 0
    package var sentCompressedMessages = 0
    /// Peers that took longer than they may.
    package var timeouts: [TimeLimit: Int] = [:]
    /// Peers cut off because they read too slowly.
    package var slowPeers = 0
    /// Peers cut off because they sent too fast.
    package var hastyPeers = 0

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
        sum.crowdedAddresses += right.crowdedAddresses
        sum.hastyAddresses += right.hastyAddresses
        sum.refusedProxies += right.refusedProxies
        sum.tlsHandshakes += right.tlsHandshakes
        sum.failedTLSHandshakes.merge(right.failedTLSHandshakes, uniquingKeysWith: +)
        sum.refusedUpgrades += right.refusedUpgrades
        sum.hastyRequests += right.hastyRequests
        sum.hastyWrites += right.hastyWrites
        sum.hastyRegistrations += right.hastyRegistrations
        sum.refusedOrigins += right.refusedOrigins
        sum.refusedWrites += right.refusedWrites
        sum.refusedHosts += right.refusedHosts
        sum.listenerRests += right.listenerRests
        sum.responses.merge(right.responses, uniquingKeysWith: +)
        sum.openStreams += right.openStreams
        sum.openWebSockets += right.openWebSockets
        sum.openedWebSockets += right.openedWebSockets
        sum.closedWebSockets.merge(right.closedWebSockets, uniquingKeysWith: +)
        sum.receivedMessages += right.receivedMessages
        sum.sentMessages += right.sentMessages
        sum.receivedCompressedMessages += right.receivedCompressedMessages
        sum.sentCompressedMessages += right.sentCompressedMessages
        sum.timeouts.merge(right.timeouts, uniquingKeysWith: +)
        sum.slowPeers += right.slowPeers
        sum.hastyPeers += right.hastyPeers
        return sum
    }
}
