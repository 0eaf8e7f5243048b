import Glibc
import Server
import Sockets
import TestSupport
import Testing
import Wire

/// Limits of an address: the number of its connections, their rate, and the address that counts behind a proxy.
@Suite struct AddressLimitTests {
    @Test("A connection counts for the address that a trusted proxy forwards, until it ends")
    func forwardedConnections() async throws {
        try await TestServer.withLimits {
            $0.maxConnectionsPerAddress = 2
        } _: { server in
            var clients: [HTTPTestClient] = []
            for _ in 0..<3 { clients.append(try await server.client()) }
            let header = TestHeaders.forwarded("203.0.113.7, 127.0.0.1")
            #expect(try await clients[0].request("GET", "/now/1", headers: header).status == 200)
            #expect(try await clients[1].request("GET", "/later/1", headers: header).status == 200)
            let refusal = try await clients[2].request("GET", "/now/1", headers: header)
            #expect(refusal.status == 429)
            #expect(refusal.headers["Retry-After"] == "1")
            #expect(try refusal.json()["code"].string == "too_many_connections")
            #expect(await server.application.counters().connectionsOverAddressLimit == 1)
            // Requests of other addresses are admitted, also over the same connection, and requests without an address
            // too.
            #expect(try await clients[2].request("GET", "/now/1", headers: .forwarded("203.0.113.8")).status == 200)
            #expect(try await clients[2].request("GET", "/now/1").status == 200)
            // An IPv6 network of 64 bits is one address.
            #expect(try await clients[2].request("GET", "/now/1", headers: .forwarded("2001:db8::1")).status == 200)

            await clients[0].close()
            try await server.untilConnections(2)
            #expect(try await clients[2].request("GET", "/now/1", headers: header).status == 200)
            // A connection from a proxy counts only for the address of its latest request.
            #expect(try await clients[2].request("GET", "/now/1", headers: .forwarded("203.0.113.8")).status == 200)
            let another = try await server.client()
            #expect(try await another.request("GET", "/now/1", headers: header).status == 200)
        }
    }

    @Test("New connections have a rate")
    func connectionRate() async throws {
        var edge = EdgePolicy()
        edge.expectsProxyHeader = true
        try await TestServer.withLimits(edge: edge) {
            // One connection is admitted at once. The next would be admitted a second later, and the test doesn't wait
            // for it.
            $0.connectionRate = 1
        } _: { server in
            func connect(_ header: String) async throws -> HTTPTestClient {
                let client = try await server.client()
                try await client.connection.send(Array(header.utf8))
                return client
            }
            let header = "PROXY TCP4 203.0.113.7 192.0.2.1 56324 80\r\n"
            let first = try await connect(header)
            for _ in 0..<20 { #expect(try await first.request("GET", "/now/1").status == 200) }
            for _ in 0..<8 { await (try await connect(header)).close() }
            try await server.until("a refusal") { $0.rateLimitedConnections > 0 }
            #expect(try await first.request("GET", "/now/1").status == 200)
            #expect(try await connect("PROXY UNKNOWN\r\n").request("GET", "/now/1").status == 200)
        }
    }

    @Test("Forwarded requests aren't new connections")
    func forwardedRequests() async throws {
        try await TestServer.withLimits {
            $0.connectionRate = 1
        } _: { server in
            let client = try await server.client()
            for number in 0..<20 {
                let header = TestHeaders.forwarded("203.0.113.\(number % 2)")
                #expect(try await client.request("GET", "/now/1", headers: header).status == 200)
            }
        }
    }

    @Test("Forwarded addresses of untrusted peers are ignored")
    func untrusted() async throws {
        var edge = EdgePolicy()
        edge.trustedProxies = TrustedNetworks()
        try await TestServer.withLimits(edge: edge) {
            $0.maxConnectionsPerAddress = 1
        } _: { server in
            var clients: [HTTPTestClient] = []
            for _ in 0..<4 { clients.append(try await server.client()) }
            // All clients are on this machine, which is exempt.
            for client in clients {
                #expect(
                    try await client.request("GET", "/now/1", headers: .forwarded("203.0.113.7")).status == 200)
            }
        }
    }

    @Test("A connection through a Unix socket counts only for its forwarded address")
    func unixSocket() async throws {
        var limits = ServerLimits.patient
        (limits.maxConnectionsPerAddress, limits.connectionRate, limits.upgradeRate) = (1, 1, 1)
        (limits.requestRate, limits.writeRate) = (2, 1)
        try await WebSocketBench.run(at: "/tmp/ls-exempt-\(getpid())", limits: limits) { bench in
            var clients: [HTTPTestClient] = []
            for _ in 0..<4 {
                let client = try await bench.server.client()
                #expect(try await client.request("GET", "/now/1").status == 200)
                // The request isn't a handshake, but counts as an attempt.
                #expect(try await client.request("GET", "/echo").status == 426)
                clients.append(client)
            }
            let header = TestHeaders.forwarded("203.0.113.7")
            #expect(try await clients[0].request("GET", "/now/1", headers: header).status == 200)
            #expect(try await clients[1].request("GET", "/now/1", headers: header).status == 429)
            let counters = await bench.server.application.counters()
            #expect(counters.connectionsOverAddressLimit == 1 && counters.rateLimitedUpgrades == 0)
        }
    }

    @Test("A direct peer is refused when it connects", .enabled(if: OwnAddress.outside != nil))
    func direct() async throws {
        let address = try #require(OwnAddress.outside)
        var limits = ServerLimits.patient
        limits.maxConnectionsPerAddress = 2
        try await TestServer.run(at: address, limits: limits) {
            $0.addPlain()
        } _: { server in
            var clients: [HTTPTestClient] = []
            for _ in 0..<2 {
                let client = try await server.client()
                // A header from the client itself is ignored.
                #expect(
                    try await client.request("GET", "/now/1", headers: .forwarded("203.0.113.7")).status == 200)
                clients.append(client)
            }
            let refused = try await server.connection()
            try await refused.expectClosed()
            #expect(await server.application.counters().connectionsOverAddressLimit == 1)
            await clients.removeLast().close()
            try await server.untilConnections(1)
            #expect(try await server.client().request("GET", "/now/1").status == 200)
        }
    }
}
