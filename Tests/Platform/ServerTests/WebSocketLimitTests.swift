import Dispatch
import Server
import Sockets
import TestSupport
import Testing
import Wire

/// Limits of an address's WebSockets: their number, the rate of upgrades, and the rate of messages.
@Suite struct WebSocketLimitTests {
    @Test("A WebSocket counts as long as its connection, on any loop")
    func webSockets() async throws {
        var limits = ServerLimits.patient
        limits.maxConnectionsPerAddress = 2
        try await WebSocketBench.run(limits: limits) { bench in
            for round in 0..<3 {
                var clients: [WebSocketTestClient] = []
                for loop in 0..<2 {
                    clients.append(
                        try await WebSocketTestClient.connect(
                            to: bench.endpoint, "/echo?loop=\(loop + round)", headers: .forwarded("203.0.113.7")))
                }
                let refusal = try await WebSocketTestClient.refusal(
                    at: bench.endpoint, "/echo", headers: .forwarded("203.0.113.7"))
                #expect(refusal.status == 429)
                for client in clients { try await client.closeHandshake() }
                try await bench.server.untilConnections(0)
            }
        }
    }

    @Test("WebSocket requests don't use up an address's other requests")
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
            #expect(try await client.request("GET", "/now/1", headers: .forwarded("203.0.113.7")).status == 200)
        }
    }

    @Test("WebSocket requests above the rate are refused before admission")
    func upgradeRate() async throws {
        var limits = ServerLimits.patient
        limits.upgradeRate = 2
        try await WebSocketBench.run(limits: limits) { bench in
            let connection = try await bench.server.connection()
            let client = HTTPTestClient(over: connection)
            let handshake = String(decoding: WebSocketBench.handshake("/refused"), as: UTF8.self)
            let forwarded = handshake.replacing("Host: x\r\n", with: "Host: x\r\nX-Forwarded-For: 203.0.113.7\r\n")
            // All are sent at once, so that no time passes between them.
            try await connection.send(String(repeating: forwarded, count: 5))
            var responses: [TestResponse] = []
            for _ in 0..<5 { responses.append(try await client.readResponse(to: "GET")) }
            #expect(responses.map(\.status) == [403, 403, 429, 429, 429])
            #expect(responses[4].headers["Retry-After"] == "1")
            #expect(try responses[4].json()["code"].string == "too_many_requests")
            #expect(await bench.server.application.counters().rateLimitedUpgrades == 3)
            // The other requests of the address, and other addresses, are served.
            let header = TestHeaders.forwarded("203.0.113.7")
            #expect(try await client.request("GET", "/now/1", headers: header).status == 200)
            try await connection.send(String(repeating: handshake, count: 5))
            for _ in 0..<5 { #expect(try await client.readResponse(to: "GET").status == 403) }
        }
    }

    private final class Observer: WebSocketHandler {
        let seen: @Sendable (WebSocket) -> Void

        init(_ seen: @escaping @Sendable (WebSocket) -> Void) { self.seen = seen }

        func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {
            seen(webSocket)
        }

        func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {}
    }

    @Test("A flood of refused requests doesn't starve other sockets")
    func fairness() async throws {
        // The number of refused upgrades on the witness's loop, recorded at each of its messages.
        let (applications, refusals) = (EventRecorder<Application>(), EventRecorder<Int>())
        var limits = ServerLimits.patient
        limits.upgradeRate = 1
        try await TestServer.run(limits: limits) { routes in
            routes.webSocket("socket") { _, _ in
                Observer {
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

            // While the loops are blocked, everything arrives: first the flood, then the message.
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

            // The loop had read only one piece of 64 KiB from each of four connections before the message, not the
            // whole flood.
            #expect(try await refusals.next("the message") < 2000)
            try await server.until("the flood") { $0.rateLimitedUpgrades > 2000 }
        }
    }

    @Test(
        "Messages, pings and pongs above the rate end the connection",
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
            #expect(try await client.expectClose(1008) == "more than 1 messages per second")
            let counters = await bench.server.application.counters()
            #expect(counters.rateLimitedPeers == 1)
            #expect(counters.closedWebSockets == [1008: 1])
        }
    }
}
