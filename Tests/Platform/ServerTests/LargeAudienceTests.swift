import Basics
import Server
import TestSupport
import Testing
import Wire

/// A large audience with the default limits.
@Suite struct LargeAudienceTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private static let people = 1_000

    /// The connections and requests of one person who arrives, and the connections that stay open.
    private struct Arrival {
        let connections: Int
        let requests: Int
        let writes: Int
        let upgrades: Int

        /// The page of a question session and its WebSocket.
        static let questions = Arrival(connections: 2, requests: 3, writes: 1, upgrades: 1)
        /// The day page: its files over the connections that a browser opens, a task, and the room's WebSocket.
        static let day = Arrival(connections: 7, requests: 29, writes: 2, upgrades: 1)
    }

    /// The number of refusals.
    private func refusals(of arrival: Arrival, within: Duration, from addresses: [IPAddress]) throws -> Int {
        let limiter = AddressLimiter(AddressAllowance(ServerLimits()))
        var permits: [ConnectionPermit] = []
        var refusals = 0
        for person in 0..<Self.people {
            let now = Self.start + within * Double(person) / Double(Self.people)
            var own: [ConnectionPermit] = []
            for _ in 0..<arrival.connections {
                switch limiter.open(addresses[person % addresses.count], at: now) {
                case .success(let permit): own.append(permit)
                case .failure: refusals += 1
                }
            }
            let permit = try #require(own.first)
            let actions: [(LimitedAction, Int)] = [
                (.request, arrival.requests), (.write, arrival.writes), (.upgrade, arrival.upgrades),
            ]
            for (action, count) in actions {
                for _ in 0..<count where !permit.admits(action, at: now) { refusals += 1 }
            }
            permits += own
        }
        withExtendedLifetime(permits) {}
        return refusals
    }

    @Test("An audience of 1,000 behind one address enters within a second")
    func atOnce() throws {
        let address = [IPAddress(ipv4: 0xCB00_7101)]
        for within in [Duration.zero, .seconds(1), .seconds(30)] {
            #expect(try refusals(of: .questions, within: within, from: address) == 0)
            #expect(try refusals(of: .day, within: within, from: address) == 0)
        }
        // Each person has an address of the same provider's network.
        let network = (0..<1_000).map {
            IPAddress(high: 0x2001_0db8_1234_5600 + UInt64($0 % 8), low: UInt64($0)).subscriber
        }
        #expect(try refusals(of: .day, within: .zero, from: network) == 0)
    }

    @Test("Connections and requests of one address are limited")
    func stranger() throws {
        let limits = ServerLimits()
        let limiter = AddressLimiter(AddressAllowance(limits))
        let address = IPAddress(ipv4: 0xCB00_7101)
        var held: [ConnectionPermit] = []
        for _ in 0..<20_000 {
            if case .success(let permit) = limiter.open(address, at: Self.start) { held.append(permit) }
        }
        #expect(held.count == limits.maxConnectionsPerAddress)
        let permit = try #require(held.first)
        var done = [Int](repeating: 0, count: 20)
        for second in done.indices {
            for step in 0..<10 {
                let now = Self.start + .seconds(second) + .milliseconds(100 * step)
                for _ in 0..<2_000 where permit.admits(.request, at: now) { done[second] += 1 }
            }
        }
        #expect(done.reduce(0, +) <= limits.requestRate * (20 + 30))
        #expect(done.dropFirst(2).allSatisfy { $0 <= limits.requestRate + 100 })
        // Other addresses are unaffected.
        #expect(isOpened(limiter.open(IPAddress(ipv4: 0xCB00_7102), at: Self.start)))
    }

    @Test("All WebSockets of an audience are opened over one address")
    func webSockets() async throws {
        var edge = EdgePolicy()
        edge.expectsProxyHeader = true
        var limits = ServerLimits.patient
        limits.addressBurst = ServerLimits().addressBurst
        try await WebSocketBench.run(limits: limits, edge: edge) { bench in
            var connections: [RawConnection] = []
            let hello = Array("PROXY TCP4 203.0.113.7 192.0.2.1 56324 80\r\n".utf8) + WebSocketBench.handshake("/echo")
            for _ in 0..<Self.people {
                let connection = try await bench.server.connection()
                try await connection.send(hello)
                connections.append(connection)
            }
            for connection in connections {
                let head = String(decoding: try await connection.receiveUntil("\r\n\r\n"), as: UTF8.self)
                try #require(head.hasPrefix("HTTP/1.1 101 "))
            }
            let counters = await bench.server.application.counters()
            #expect(counters.rateLimitedConnections == 0 && counters.rateLimitedUpgrades == 0)
            for connection in connections { await connection.close() }
        }
    }

    private func isOpened(_ result: Result<ConnectionPermit, AddressLimiter.Refusal>) -> Bool {
        if case .success = result { true } else { false }
    }
}
