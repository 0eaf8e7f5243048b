import Server
import TestSupport
import Testing

@Suite struct FrameRateTests {
    private static func withServer(
        messageRate: Int, _ body: (WebSocketBench) async throws -> Void
    ) async throws {
        var limits = ServerLimits.patient
        limits.messageRate = messageRate
        try await WebSocketBench.run(limits: limits, body)
    }

    private static func fragments(_ count: Int, of payload: [UInt8] = []) -> [UInt8] {
        TestFrame(.text, payload, isFinal: false).bytes()
            + (1..<count).flatMap { _ in TestFrame(.continuation, payload, isFinal: false).bytes() }
    }

    @Test("Frames without a complete message count against the rate, too", arguments: [[], [0x61]])
    func emptyFragments(payload: [UInt8]) async throws {
        try await Self.withServer(messageRate: 1) { bench in
            let client = try await bench.client()
            // A burst of two messages allows 32 frames. Sixteen more are allowed for each second that passes meanwhile.
            try await client.connection.send(Self.fragments(2000, of: payload))
            #expect(try await client.expectClose(1008) == "more than 1 messages per second")
            try await bench.server.untilConnections(0)
            let counters = await bench.server.application.counters()
            #expect(counters.rateLimitedPeers == 1 && counters.receivedMessages == 0)
        }
    }

    @Test("A message in sixteen frames counts as one, at any rate")
    func fewFragments() async throws {
        try await Self.withServer(messageRate: 1) { bench in
            let client = try await bench.client()
            let piece = [UInt8](repeating: 0x61, count: 256)
            try await client.send(fragments: [[UInt8]](repeating: piece, count: 16), as: .text)
            #expect(try await client.nextMessage() == .text(String(repeating: "a", count: 4096)))
        }
    }

    @Test("Without a limit any number of frames is read")
    func unlimited() async throws {
        try await Self.withServer(messageRate: 0) { bench in
            let client = try await bench.client()
            try await client.connection.send(Self.fragments(10_000) + TestFrame(.continuation, "end").bytes())
            #expect(try await client.nextMessage() == .text("end"))
        }
    }

    @Test("The rate applies during the closing handshake")
    func whileClosing() async throws {
        try await Self.withServer(messageRate: 1) { bench in
            let client = try await bench.client()
            try await client.send(text: "close")
            #expect(try await client.nextFrame() == .close(1000, "bye"))
            // The connection ends long before the limits of the close handshake.
            try await client.connection.send((0..<100).flatMap { _ in TestFrame(.pong, []).bytes() })
            try await client.connection.expectClosed()
            await client.close()
            try await bench.server.untilConnections(0)
            let counters = await bench.server.application.counters()
            #expect(counters.rateLimitedPeers == 1 && counters.closedWebSockets == [1000: 1])
        }
    }

    @Test("Made-up close codes are counted by thousands")
    func closeCodes() async throws {
        try await WebSocketBench.run { bench in
            for code: UInt16 in [1000, 3000, 3999, 4000, 4123, 4999] {
                let client = try await bench.client()
                try await client.closeHandshake(code)
            }
            try await bench.server.untilConnections(0)
            let closed = await bench.server.application.counters().closedWebSockets
            #expect(closed == [1000: 1, 3000: 2, 4000: 3])
        }
    }
}
