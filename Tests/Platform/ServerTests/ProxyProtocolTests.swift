import Foundation
import Server
import TestSupport
import Testing
import Wire

@Suite struct ProxyProtocolTests {
    private static let request = Array("GET /now/1 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
    private static let line = Array("PROXY TCP4 203.0.113.7 192.0.2.1 56324 80\r\n".utf8)
    private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10]
    private static let binary = signature + [0x21, 0x11, 0, 12, 203, 0, 113, 7, 192, 0, 2, 1, 0xDC, 4, 0, 80]
    private static let local = signature + [0x20, 0, 0, 0]

    private static func withServer(
        at address: String = "127.0.0.1", trusted: TrustedNetworks = .thisMachine, maxPerAddress: Int = 1000,
        headerTimeout: Duration = ServerLimits.patient.headerTimeout, _ body: (TestServer) async throws -> Void
    ) async throws {
        var (edge, limits) = (EdgePolicy(), ServerLimits.patient)
        edge.expectsProxyHeader = true
        edge.trustedProxies = trusted
        limits.maxConnectionsPerAddress = maxPerAddress
        limits.headerTimeout = headerTimeout
        try await TestServer.run(at: address, limits: limits, edge: edge, routes: { $0.addPlain() }, body)
    }

    @Test(
        "A connection may begin with a header of either version",
        arguments: [line, binary, local, Array("PROXY UNKNOWN\r\n".utf8)], [1, 5, 1000])
    func served(header: [UInt8], pieces: Int) async throws {
        try await Self.withServer { server in
            for _ in 0..<2 {
                let connection = try await server.connection()
                try await connection.send(header + Self.request + Self.request, inPiecesOf: pieces)
                let client = HTTPTestClient(over: connection)
                for _ in 0..<2 { #expect(try await client.readResponse(to: "GET").text == "1") }
                // The header is valid only once: a second one is an invalid request.
                try await connection.send(header)
                #expect(try await client.readResponse(to: "GET").status == 400)
            }
        }
    }

    @Test("A PROXY header works over a Unix socket")
    func unix() async throws {
        try await Self.withServer(at: "/tmp/ls-proxy-\(UUID().uuidString)", maxPerAddress: 1) { server in
            var clients: [HTTPTestClient] = []
            for header in [Self.line, Self.local, Self.local] {
                let client = try await server.client()
                try await client.connection.send(header)
                #expect(try await client.request("GET", "/now/1").status == 200)
                clients.append(client)
            }
            let refused = try await server.connection()
            try await refused.send(Self.line + Self.request)
            try await refused.expectClosed()
        }
    }

    @Test(
        "Limits count the address in the header",
        arguments: [line, binary])
    func limits(header: [UInt8]) async throws {
        try await Self.withServer(maxPerAddress: 2) { server in
            var connections: [RawConnection] = []
            for header in [header, header, Self.local, Self.local, Self.local] {
                let connection = try await server.connection()
                try await connection.send(header + Self.request)
                #expect(try await HTTPTestClient(over: connection).readResponse(to: "GET").status == 200)
                connections.append(connection)
            }
            let refused = try await server.connection()
            try await refused.send(header + Self.request)
            try await refused.expectClosed()
            #expect(await server.application.counters().connectionsOverAddressLimit == 1)
            await connections[0].close()
            try await server.untilConnections(4)
            let next = try await server.connection()
            try await next.send(header + Self.request)
            #expect(try await HTTPTestClient(over: next).readResponse(to: "GET").status == 200)
        }
    }

    @Test(
        "Without the header the connection is closed",
        arguments: [request, Array("PROXY nonsense\r\n".utf8), Array(binary.dropLast(20)) + [0x31]])
    func refused(bytes: [UInt8]) async throws {
        try await Self.withServer { server in
            let connection = try await server.connection()
            try await connection.send(bytes)
            try await connection.expectClosed()
            try await server.untilConnections(0)
            let counters = await server.application.counters()
            #expect(counters.refusedProxies == 1)
            #expect(counters.responses == [:])
        }
    }

    @Test("An incomplete header times out", arguments: [[], Array(line.prefix(20))])
    func late(part: [UInt8]) async throws {
        try await Self.withServer(headerTimeout: .milliseconds(50)) { server in
            let connection = try await server.connection()
            try await connection.send(part)
            try await connection.expectClosed()
            try await server.until("the refusal") { $0.refusedProxies == 1 }
        }
    }

    @Test("Only trusted peers may send a header")
    func untrusted() async throws {
        try await Self.withServer(trusted: TrustedNetworks()) { server in
            let connection = try await server.connection()
            try await connection.expectClosed()
            #expect(await server.application.counters().refusedProxies == 1)
        }
    }

    @Test("Peers that end or are waiting for their header are closed during a drain")
    func ends() async throws {
        try await Self.withServer { server in
            let ending = try await server.connection()
            try await ending.send(Array(Self.line.prefix(3)))
            try await ending.shutdownWrite()
            try await ending.expectClosed()
            let waiting = try await server.connection()
            try await server.untilConnections(1)
            try await server.until("the connection") { $0.acceptedConnections == 2 }
            #expect(await server.application.drain(within: Deadline.standard))
            try await waiting.expectClosed()
        }
    }
}
