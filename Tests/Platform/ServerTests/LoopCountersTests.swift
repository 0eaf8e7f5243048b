import Sockets
import Testing

@testable import Server

@Suite struct LoopCountersTests {
    @Test("Each counter is added up over two loops")
    func sum() {
        var one = LoopCounters()
        (one.acceptedConnections, one.refusedConnections, one.connectionsOverAddressLimit) = (1, 1, 1)
        (one.rateLimitedConnections, one.refusedProxies, one.tlsHandshakes) = (1, 1, 1)
        (one.rateLimitedUpgrades, one.rateLimitedRequests, one.rateLimitedWrites) = (1, 1, 1)
        (one.rateLimitedRegistrations, one.crossOriginUpgrades, one.crossOriginWrites, one.refusedHosts) = (1, 1, 1, 1)
        (one.listenerRests, one.openStreams, one.openWebSockets, one.openedWebSockets) = (1, 1, 1, 1)
        (one.receivedMessages, one.sentMessages, one.leftOutMessages) = (1, 1, 1)
        (one.slowPeers, one.rateLimitedPeers) = (1, 1)
        (one.receivedCompressedMessages, one.sentCompressedMessages) = (1, 1)
        (one.responses, one.closedWebSockets) = ([200: 1], [1000: 1])
        (one.failedTLSHandshakes, one.timeouts) = ([.protocolError: 1], [.header: 1])
        // Looks at every member by reflection, so a new counter fails the test if it is missing above or in the sum.
        for (counters, count) in [(one, 1), (one + one, 2), (one + LoopCounters(), 1)] {
            for member in Mirror(reflecting: counters).children {
                let value = String(describing: member.value)
                #expect(value == "\(count)" || value.hasSuffix(": \(count)]"), "\(member.label ?? "")")
            }
        }
    }
}
