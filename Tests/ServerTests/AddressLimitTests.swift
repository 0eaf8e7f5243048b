import Dispatch
import Glibc
import Server
import Sockets
import TestSupport
import Testing
import Wire

@Suite struct AddressLimitTests {
    private static func forwarded(_ address: String) -> TestHeaders { ["X-Forwarded-For": address] }

    private static func withServer(
        edge: EdgePolicy = EdgePolicy(), _ set: (inout ServerLimits) -> Void,
        _ body: (TestServer) async throws -> Void
    ) async throws {
        var limits = ServerLimits.patient
        set(&limits)
        try await TestServer.run(limits: limits, edge: edge, routes: { $0.addPlain() }, body)
    }

    @Test("Connections are counted for the address that a trusted proxy forwards, until they end")
    func forwardedConnections() async throws {
        try await Self.withServer {
            $0.maxConnectionsPerAddress = 2
        } _: { server in
            var clients: [HTTPTestClient] = []
            for _ in 0..<3 { clients.append(try await server.client()) }
            let header = Self.forwarded("203.0.113.7, 127.0.0.1")
            #expect(try await clients[0].request("GET", "/now/1", headers: header).status == 200)
            #expect(try await clients[1].request("GET", "/later/1", headers: header).status == 200)
            let refusal = try await clients[2].request("GET", "/now/1", headers: header)
            #expect(refusal.status == 429)
            #expect(refusal.headers["Retry-After"] == "1")
            #expect(try refusal.json()["code"].string == "too_many_connections")
            #expect(await server.application.counters().connectionsOverAddressLimit == 1)
            // Others may, also over the same connection, and so may whoever brings no address.
            #expect(try await clients[2].request("GET", "/now/1", headers: Self.forwarded("203.0.113.8")).status == 200)
            #expect(try await clients[2].request("GET", "/now/1").status == 200)
            // An IPv6 network of 64 bits is one address.
            #expect(try await clients[2].request("GET", "/now/1", headers: Self.forwarded("2001:db8::1")).status == 200)

            await clients[0].close()
            try await server.untilConnections(2)
            #expect(try await clients[2].request("GET", "/now/1", headers: header).status == 200)
            // A proxied connection counts for its latest request alone.
            #expect(try await clients[2].request("GET", "/now/1", headers: Self.forwarded("203.0.113.8")).status == 200)
            let another = try await server.client()
            #expect(try await another.request("GET", "/now/1", headers: header).status == 200)
        }
    }

    @Test("A WebSocket counts as long as its connection, whatever loop it is on")
    func webSockets() async throws {
        var limits = ServerLimits.patient
        limits.maxConnectionsPerAddress = 2
        try await WebSocketBench.run(limits: limits) { bench in
            for round in 0..<3 {
                var clients: [WebSocketTestClient] = []
                for loop in 0..<2 {
                    clients.append(
                        try await WebSocketTestClient.connect(
                            to: bench.endpoint, "/echo?loop=\(loop + round)", headers: Self.forwarded("203.0.113.7")))
                }
                let refusal = try await WebSocketTestClient.refusal(
                    at: bench.endpoint, "/echo", headers: Self.forwarded("203.0.113.7"))
                #expect(refusal.status == 429)
                for client in clients { try await client.closeHandshake() }
                try await bench.server.untilConnections(0)
            }
        }
    }

    @Test("New connections have a rate; several requests of one connection are one")
    func connectionRate() async throws {
        var edge = EdgePolicy()
        edge.expectsProxyHeader = true
        try await Self.withServer(edge: edge) {
            // One at once; another after a second, which nobody waits for.
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

    @Test("What a proxy forwards over its connections is no new connection, whoever it is for")
    func forwardedRequests() async throws {
        try await Self.withServer {
            $0.connectionRate = 1
        } _: { server in
            let client = try await server.client()
            for number in 0..<20 {
                let header = Self.forwarded("203.0.113.\(number % 2)")
                #expect(try await client.request("GET", "/now/1", headers: header).status == 200)
            }
        }
    }

    @Test("Requests have a rate by address, and those that write another")
    func requestRate() async throws {
        try await Self.withServer {
            // Thirty, and ten, at once.
            ($0.requestRate, $0.writeRate, $0.addressBurst) = (3, 1, .seconds(10))
        } _: { server in
            let connection = try await server.connection()
            let client = HTTPTestClient(over: connection)
            func statuses(_ request: String, for address: String?, count: Int) async throws -> [Int] {
                let forwarded = address.map { "X-Forwarded-For: \($0)\r\n" } ?? ""
                let bytes = "\(request) HTTP/1.1\r\nHost: x\r\n\(forwarded)Content-Length: 0\r\n\r\n"
                // In one piece, so that no time passes between them.
                try await connection.send(String(repeating: bytes, count: count))
                var statuses: [Int] = []
                for _ in 0..<count {
                    let response = try await client.readResponse(to: "GET")
                    statuses.append(response.status)
                    guard response.status == 429 else { continue }
                    #expect(response.headers["Retry-After"] == "1")
                    #expect(try response.json()["code"].string == "too_many_requests")
                }
                return statuses
            }
            let writes = try await statuses("POST /echo", for: "203.0.113.7", count: 15)
            #expect(writes == Array(repeating: 200, count: 10) + Array(repeating: 429, count: 5))
            // What there isn't counts as well.
            let missing = try await statuses("PUT /nothing", for: "203.0.113.7", count: 2)
            #expect(missing == [429, 429])
            let reads = try await statuses("GET /later/1", for: "203.0.113.7", count: 40)
            #expect(reads.prefix(10).allSatisfy { $0 == 200 } && reads.suffix(10).allSatisfy { $0 == 429 })
            let counters = await server.application.counters()
            #expect(counters.rateLimitedWrites == 7)
            #expect(
                counters.rateLimitedRequests >= 10 && counters.rateLimitedRequests == reads.filter { $0 == 429 }.count)
            // Others, and this machine, aren't meant.
            #expect(try await statuses("POST /echo", for: "203.0.113.8", count: 5) == [200, 200, 200, 200, 200])
            #expect(try await statuses("POST /echo", for: nil, count: 50).allSatisfy { $0 == 200 })
        }
    }

    @Test("What registers something has a number a day by address")
    func registrationsPerDay() async throws {
        try await Self.withServer {
            $0.registrationsPerDay = 2
        } _: { server in
            let client = try await server.client()
            let header = Self.forwarded("203.0.113.7")
            var statuses: [Int] = []
            for _ in 0..<3 {
                statuses.append(try await client.request("POST", "/registration", headers: header).status)
            }
            #expect(statuses == [200, 200, 429])
            let refusal = try await client.request("POST", "/registration", headers: header)
            #expect(try refusal.json()["code"].string == "too_many_registrations")
            #expect(await server.application.counters().rateLimitedRegistrations == 2)
            #expect(try await client.request("POST", "/echo", headers: header).status == 200)
            #expect(try await client.request("POST", "/registration").status == 200)
        }
    }

    @Test("Attempts at a WebSocket use up nothing of an address' other requests")
    func attemptsAreNoRequests() async throws {
        var limits = ServerLimits.patient
        (limits.upgradeRate, limits.requestRate) = (1, 2)
        try await WebSocketBench.run(limits: limits) { bench in
            let connection = try await bench.server.connection()
            let client = HTTPTestClient(over: connection)
            let handshake = String(decoding: WebSocketBench.handshake("/refused"), as: UTF8.self)
                .replacing("Host: x\r\n", with: "Host: x\r\nX-Forwarded-For: 203.0.113.7\r\n")
            try await connection.send(String(repeating: handshake, count: 40))
            for _ in 0..<40 { #expect([403, 429].contains(try await client.readResponse(to: "GET").status)) }
            #expect(try await client.request("GET", "/now/1", headers: Self.forwarded("203.0.113.7")).status == 200)
        }
    }

    @Test("Who heeds no refusal has to connect anew, but no proxy")
    func unheeded() async throws {
        var edge = EdgePolicy()
        edge.expectsProxyHeader = true
        try await Self.withServer(edge: edge) {
            $0.requestRate = 1
        } _: { server in
            let connection = try await server.connection()
            let request = "GET /now/1 HTTP/1.1\r\nHost: x\r\n\r\n"
            try await connection.send(
                "PROXY TCP4 203.0.113.7 192.0.2.1 56324 80\r\n" + String(repeating: request, count: 100))
            let client = HTTPTestClient(over: connection)
            var last = try await client.readResponse(to: "GET")
            #expect(last.status == 200)
            var refusals = 0
            while last.headers["Connection"] == nil {
                last = try await client.readResponse(to: "GET")
                if last.status == 429 { refusals += 1 }
            }
            #expect(last.status == 429 && last.headers["Connection"] == "close")
            #expect(refusals >= 32)
            try await connection.expectClosed()

            // The proxy's own connection carries others' requests too.
            let own = try await server.connection()
            let forwarded = request.replacing("Host: x\r\n", with: "Host: x\r\nX-Forwarded-For: 203.0.113.7\r\n")
            try await own.send("PROXY UNKNOWN\r\n" + String(repeating: forwarded, count: 100))
            let proxied = HTTPTestClient(over: own)
            for _ in 0..<100 { #expect(try await proxied.readResponse(to: "GET").headers["Connection"] == nil) }
        }
    }

    @Test("Nobody is believed who isn't trusted")
    func untrusted() async throws {
        var edge = EdgePolicy()
        edge.trustedProxies = TrustedNetworks()
        try await Self.withServer(edge: edge) {
            $0.maxConnectionsPerAddress = 1
        } _: { server in
            var clients: [HTTPTestClient] = []
            for _ in 0..<4 { clients.append(try await server.client()) }
            // All from this machine, which is exempt.
            for client in clients {
                #expect(
                    try await client.request("GET", "/now/1", headers: Self.forwarded("203.0.113.7")).status == 200)
            }
        }
    }

    @Test("Whoever comes by a Unix socket counts for whom it is forwarded, and for nobody otherwise")
    func unixSocket() async throws {
        var limits = ServerLimits.patient
        (limits.maxConnectionsPerAddress, limits.connectionRate, limits.upgradeRate) = (1, 1, 1)
        (limits.requestRate, limits.writeRate) = (2, 1)
        try await WebSocketBench.run(at: "/tmp/ls-exempt-\(getpid())", limits: limits) { bench in
            var clients: [HTTPTestClient] = []
            for _ in 0..<4 {
                let client = try await bench.server.client()
                #expect(try await client.request("GET", "/now/1").status == 200)
                // No handshake, but an attempt.
                #expect(try await client.request("GET", "/echo").status == 426)
                clients.append(client)
            }
            let header = Self.forwarded("203.0.113.7")
            #expect(try await clients[0].request("GET", "/now/1", headers: header).status == 200)
            #expect(try await clients[1].request("GET", "/now/1", headers: header).status == 429)
            let counters = await bench.server.application.counters()
            #expect(counters.connectionsOverAddressLimit == 1 && counters.rateLimitedUpgrades == 0)
        }
    }

    @Test("While one address hammers, another's requests are all answered")
    func hammering() async throws {
        try await Self.withServer {
            $0.requestRate = 1
        } _: { server in
            let hasSeenEnough = EventRecorder<Bool>()
            let hammer = Task {
                var refused = 0
                let client = try await server.client()
                while hasSeenEnough.all.isEmpty {
                    let response = try await client.request("GET", "/now/1", headers: Self.forwarded("203.0.113.7"))
                    if response.status == 429 { refused += 1 }
                }
                return refused
            }
            let other = try await server.client()
            try await server.until("the refusals") { $0.rateLimitedRequests > 5 }
            for number in 0..<200 {
                let path = number % 2 == 0 ? "/now/\(number)" : "/later/\(number)"
                let response = try await other.request("GET", path, headers: Self.forwarded("203.0.113.\(number + 8)"))
                #expect(response.status == 200 && response.text == "\(number)")
            }
            hasSeenEnough.append(true)
            #expect(try await hammer.value > 5)
        }
    }

    @Test("A peer from elsewhere is refused as it connects", .enabled(if: OwnAddress.outside != nil))
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
                // What it says of itself counts for nothing.
                #expect(
                    try await client.request("GET", "/now/1", headers: Self.forwarded("203.0.113.7")).status == 200)
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

    @Test("Attempts at a WebSocket beyond the rate are refused before anybody is asked")
    func upgradeRate() async throws {
        var limits = ServerLimits.patient
        limits.upgradeRate = 2
        try await WebSocketBench.run(limits: limits) { bench in
            let connection = try await bench.server.connection()
            let client = HTTPTestClient(over: connection)
            let handshake = String(decoding: WebSocketBench.handshake("/refused"), as: UTF8.self)
            let forwarded = handshake.replacing("Host: x\r\n", with: "Host: x\r\nX-Forwarded-For: 203.0.113.7\r\n")
            // In one piece, so that no time passes between them.
            try await connection.send(String(repeating: forwarded, count: 5))
            var responses: [TestResponse] = []
            for _ in 0..<5 { responses.append(try await client.readResponse(to: "GET")) }
            #expect(responses.map(\.status) == [403, 403, 429, 429, 429])
            #expect(responses[4].headers["Retry-After"] == "1")
            #expect(try responses[4].json()["code"].string == "too_many_requests")
            #expect(await bench.server.application.counters().rateLimitedUpgrades == 3)
            // The other requests of the address, and other addresses, are served.
            let header = Self.forwarded("203.0.113.7")
            #expect(try await client.request("GET", "/now/1", headers: header).status == 200)
            try await connection.send(String(repeating: handshake, count: 5))
            for _ in 0..<5 { #expect(try await client.readResponse(to: "GET").status == 403) }
        }
    }

    private final class Witness: WebSocketHandler {
        let seen: @Sendable (WebSocket) -> Void

        init(_ seen: @escaping @Sendable (WebSocket) -> Void) { self.seen = seen }

        func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {
            seen(webSocket)
        }

        func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {}
    }

    @Test("A flood of refused attempts starves nobody: who is ready too is served in the same round")
    func fairness() async throws {
        // The refusals on the witness's loop so far, at each of its messages.
        let (applications, refusals) = (EventRecorder<Application>(), EventRecorder<Int>())
        var limits = ServerLimits.patient
        limits.upgradeRate = 1
        try await TestServer.run(limits: limits) { routes in
            routes.webSocket("socket") { _, _ in
                Witness {
                    guard let application = applications.all.first else { return }
                    refusals.append(application.server(on: $0.reactor).counters.rateLimitedUpgrades)
                }
            }
        } _: { server in
            let application = server.application
            applications.append(application)
            let witness = try await WebSocketTestClient.connect(to: server.endpoint, "/socket")
            try await witness.send(text: "before")
            #expect(try await refusals.next("the message before") == 0)
            var floods: [RawConnection] = []
            for _ in 0..<8 { floods.append(try await server.connection()) }
            try await server.until("the connections") { $0.acceptedConnections == 9 }

            // While the loops stand still, everything arrives: first the flood, then the one message.
            let (standing, goOn) = (EventRecorder<Int>(), DispatchSemaphore(value: 0))
            for loop in application.loops {
                loop.submit { reactor in
                    standing.append(reactor.index)
                    _ = goOn.wait(timeout: .now() + 20)
                }
            }
            for _ in application.loops { try await standing.next("a loop that stands still") }
            let attempt = String(decoding: WebSocketBench.handshake("/socket"), as: UTF8.self)
                .replacing("Host: x\r\n", with: "Host: x\r\nX-Forwarded-For: 203.0.113.7\r\n")
            let flood = Array(String(repeating: attempt, count: 1000).utf8)
            for connection in floods { try await connection.send(flood) }
            try await witness.send(text: "me too")
            for _ in application.loops { goOn.signal() }

            // One helping of each of four connections, of 64 KiB, and not all that has come.
            #expect(try await refusals.next("the message") < 2000)
            try await server.until("the flood") { $0.rateLimitedUpgrades > 2000 }
        }
    }

    @Test(
        "Messages, pings and pongs beyond the rate end the connection",
        arguments: [TestFrame.Opcode.text, .ping, .pong])
    func messageRate(opcode: TestFrame.Opcode) async throws {
        var limits = ServerLimits.patient
        limits.messageRate = 1
        try await WebSocketBench.run(limits: limits) { bench in
            let client = try await bench.client()
            try await client.connection.send((0..<5).flatMap { _ in TestFrame(opcode, "hello").bytes() })
            for _ in 0..<2 where opcode != .pong {
                #expect(try await client.nextFrame() == TestFrame(opcode == .ping ? .pong : .text, "hello"))
            }
            #expect(try await client.expectClose(1008) == "more than 1 messages a second")
            let counters = await bench.server.application.counters()
            #expect(counters.rateLimitedPeers == 1)
            #expect(counters.closedWebSockets == [1008: 1])
        }
    }
}

/// An address of this machine's that isn't loopback.
enum OwnAddress {
    static let outside: String? = {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next {
            next = entry.pointee.ifa_next
            guard let address = entry.pointee.ifa_addr, CInt(address.pointee.sa_family) == AF_INET else { continue }
            var host = [CChar](repeating: 0, count: 64)
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            guard getnameinfo(address, size, &host, 64, nil, 0, NI_NUMERICHOST) == 0 else { continue }
            let text = String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if !text.hasPrefix("127.") { return text }
        }
        return nil
    }()
}
