import Foundation
import Server
import TestSupport
import Testing

@Suite struct WebSocketTests {
    @Test(
        "Messages are echoed unchanged over every kind of address",
        arguments: ["127.0.0.1", "::1", "/tmp/ls-websocket-\(UUID().uuidString)"])
    func echo(address: String) async throws {
        try await WebSocketBench.run(at: address) { bench in
            for _ in 0..<2 {
                let client = try await bench.client()
                try await client.send(text: "grüße 🍺")
                #expect(try await client.nextMessage() == .text("grüße 🍺"))
                for size in [0, 1, 125, 126, 127, 4096] {
                    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
                    try await client.send(binary: bytes)
                    #expect(try await client.nextMessage() == .binary(bytes))
                }
                try await client.closeHandshake()
            }
            try await bench.server.untilConnections(0)
            let counters = await bench.server.application.counters()
            #expect(counters.openedWebSockets == 2)
            #expect(counters.openWebSockets == 0)
            #expect(counters.closedWebSockets == [1000: 2])
            #expect(counters.receivedMessages == 14)
            #expect(counters.sentMessages == 14)
            #expect(counters.responses == [101: 2])
        }
    }

    @Test("Fragments form one message, with pings between them")
    func fragments() async throws {
        try await WebSocketBench.run { bench in
            let client = try await bench.client()
            let text = "ein Maß für €uropa 🍺"
            try await client.send(fragments: Array(text.utf8).map { [$0] }, as: .text)
            #expect(try await client.nextMessage() == .text(text))

            try await client.send(TestFrame(.binary, [1], isFinal: false))
            try await client.ping([9, 9])
            #expect(try await client.nextFrame() == TestFrame(.pong, [9, 9]))
            try await client.send(TestFrame(.continuation, [], isFinal: false))
            try await client.pong([7])
            try await client.send(TestFrame(.continuation, [2]))
            #expect(try await client.nextMessage() == .binary([1, 2]))
        }
    }

    @Test("Frames may be split anywhere", arguments: [1, 2, 3, 5, 11])
    func cuts(size: Int) async throws {
        try await WebSocketBench.run { bench in
            let client = try await bench.client()
            let frames = (0..<20).map { TestFrame(.binary, [UInt8](repeating: UInt8($0), count: $0 * 10)) }
            async let sent: Void = client.connection.send(frames.flatMap { $0.bytes() }, inPiecesOf: size)
            for frame in frames { #expect(try await client.nextMessage() == .binary(frame.payload)) }
            try await sent
        }
    }

    @Test("A pong contains the ping's bytes", arguments: [0, 1, 125])
    func ping(size: Int) async throws {
        try await WebSocketBench.run { bench in
            let client = try await bench.client()
            let payload = (0..<size).map { UInt8($0) }
            try await client.ping(payload)
            #expect(try await client.nextFrame() == TestFrame(.pong, payload))
            try await client.pong(payload)
            try await client.expectNothing()
        }
    }

    @Test("A peer's close is answered with its code", arguments: [1000, 1001, 1007, 3000, 4999, nil])
    func peerCloses(code: UInt16?) async throws {
        try await WebSocketBench.run { bench in
            let client = try await bench.client()
            let frames = [TestFrame(.text, "before"), .close(code, "why"), TestFrame(.text, "after")]
            try await client.connection.send(frames.flatMap { $0.bytes() })
            #expect(try await client.nextFrame() == TestFrame(.text, "before"))
            #expect(try await client.nextFrame() == .close(code))
            // The server ends the connection (RFC 6455 §7.1.1).
            try await client.connection.expectClosed()
            await client.close()
            try await bench.events.next("the end") { $0 == .closed(code ?? 1005) }
            try await bench.server.untilConnections(0)
            #expect(!bench.events.all.contains { if case .received("after", _) = $0 { true } else { false } })
        }
    }

    @Test("The server's close waits for the peer's", arguments: [("close", 1000), ("close twice", 1008)])
    func serverCloses(message: String, code: UInt16) async throws {
        try await WebSocketBench.run { bench in
            let client = try await bench.client()
            try await client.send(text: message)
            let close = try await client.nextFrame()
            #expect(close.opcode == .close)
            #expect(close.payload.prefix(2) == [UInt8(code >> 8), UInt8(code & 0xFF)])
            // The handler is notified at once, and of nothing that comes later.
            try await bench.events.next("the end") { $0 == .closed(code) }
            try await client.send(text: "ignored")
            try await client.ping()
            try await client.sendClose(code)
            try await client.connection.expectClosed()
            await client.close()
            try await bench.server.untilConnections(0)
            #expect(bench.events.all.filter { $0 == .closed(code) }.count == 1)
            #expect(await bench.server.application.counters().closedWebSockets == [code: 1])
        }
    }

    @Test(
        "A handler can't send after it was notified of the end",
        arguments: [
            (TestFrame.close(1001).bytes(), 1001), ([0x83, 0x80, 0, 0, 0, 0], 1002),
            ([[UInt8]](repeating: TestFrame(.ping, []).bytes(), count: 50).flatMap(\.self), 1008),
        ] as [([UInt8], UInt16)])
    func lastWords(ending: [UInt8], code: UInt16) async throws {
        var limits = ServerLimits.patient
        limits.messageRate = 10
        try await WebSocketBench.run(limits: limits) { bench in
            let client = try await bench.client()
            try await client.connection.send(TestFrame(.text, "last words").bytes() + ending)
            var frame = try await client.nextFrame()
            while frame.opcode == .pong { frame = try await client.nextFrame() }
            #expect(frame.opcode == .close && frame.payload.prefix(2) == [UInt8(code >> 8), UInt8(code & 0xFF)])
            try await client.connection.expectClosed()
            await client.close()
            try await bench.server.untilConnections(0)
            let counters = await bench.server.application.counters()
            #expect(counters.openWebSockets == 0)
            #expect(counters.closedWebSockets == [code: 1])
            #expect(counters.sentMessages == 0)
        }
    }

    @Test("A WebSocket closed during its upgrade reports it and is over", arguments: [true, false])
    func closedAtOnce(inOnePacket: Bool) async throws {
        try await WebSocketBench.run { bench in
            let connection = try await bench.server.connection()
            let close = TestFrame.close(1000).bytes()
            try await connection.send(WebSocketBench.handshake("/full") + (inOnePacket ? close : []))
            _ = try await connection.receiveUntil("\r\n\r\n")
            #expect(try await connection.receiveExactly(8) == [0x88, 6, 0x03, 0xF5] + Array("full".utf8))
            if !inOnePacket { try await connection.send(close) }
            try await connection.expectClosed()
            await connection.close()
            try await bench.events.next("the end") { $0 == .closed(1013) }
            try await bench.server.untilConnections(0)
            let counters = await bench.server.application.counters()
            #expect(counters.openWebSockets == 0)
            #expect(counters.closedWebSockets == [1013: 1])
        }
    }

    @Test("A lost connection has code 1006", arguments: ["fin", "reset"])
    func lost(how: String) async throws {
        try await WebSocketBench.run { bench in
            let client = try await bench.client()
            if how == "fin" {
                try await client.connection.shutdownWrite()
                try await client.connection.expectClosed()
            } else {
                try await client.connection.reset()
            }
            try await bench.events.next("the end") { $0 == .closed(1006) }
            try await bench.server.untilConnections(0)
            #expect(await bench.server.application.counters().closedWebSockets == [1006: 1])
        }
    }

    private static let text = TestFrame(.text, "x")

    @Test(
        "A protocol violation closes the connection with the rule",
        arguments: [
            ("§5.1", 1002, text.bytes(mask: nil)), ("§5.2", 1002, TestFrame(.text, "x", reserved: 4).bytes()),
            ("§5.2", 1002, TestFrame(.text, "x", reserved: 1).bytes()), ("§5.2", 1002, TestFrame(.init(3)).bytes()),
            ("§5.2", 1002, TestFrame(.init(15)).bytes()), ("§5.2", 1002, text.bytes(lengthForm: .sixteenBits)),
            ("§5.2", 1002, text.bytes(lengthForm: .sixtyFourBits)),
            ("§5.2", 1002, text.bytes(lengthForm: .sixtyFourBits, announcedLength: 1 << 63)),
            ("§5.4", 1002, TestFrame(.continuation, "x").bytes()),
            ("§5.4", 1002, TestFrame(.text, "x", isFinal: false).bytes() + text.bytes()),
            ("§5.5", 1002, TestFrame(.ping, "x", isFinal: false).bytes()),
            ("§5.5", 1002, TestFrame(.ping, [UInt8](repeating: 0, count: 126)).bytes()),
            ("§5.5.1", 1002, TestFrame(.close, [3]).bytes()), ("§7.4", 1002, TestFrame.close(1005).bytes()),
            ("§7.4", 1002, TestFrame.close(999).bytes()), ("§7.4", 1002, TestFrame.close(5000).bytes()),
            ("§5.5.1", 1007, TestFrame(.close, [3, 0xE8, 0xFF]).bytes()),
            ("§8.1", 1007, TestFrame(.text, [0xC3, 0x28]).bytes()),
            ("§8.1", 1007, TestFrame(.text, [0xE2, 0x82]).bytes()),
            ("§8.1", 1007, TestFrame(.text, [0xED], isFinal: false).bytes() + TestFrame(.continuation, [0xA0]).bytes()),
            ("§10.4", 1009, text.bytes(announcedLength: 4097)),
            ("§10.4", 1009, text.bytes(lengthForm: .sixtyFourBits, announcedLength: 1 << 62)),
            (
                "§10.4", 1009,
                TestFrame(.binary, [UInt8](repeating: 0, count: 4000), isFinal: false).bytes()
                    + TestFrame(.continuation, [UInt8](repeating: 0, count: 97)).bytes()
            ),
        ] as [(String, UInt16, [UInt8])])
    func protocolErrors(section: String, code: UInt16, bytes: [UInt8]) async throws {
        try await WebSocketBench.run { bench in
            let client = try await bench.client()
            // The invalid frame follows a valid message. Nothing after it is read.
            let sound = TestFrame(.binary, [1]).bytes()
            try await client.connection.send(sound + bytes + sound)
            #expect(try await client.nextMessage() == .binary([1]))
            #expect(try await client.expectClose(code).contains(section + ":"))
            try await bench.events.next("the end") { $0 == .closed(code) }
            await client.close()
            try await bench.server.untilConnections(0)
            #expect(await bench.server.application.counters().receivedMessages == 1)
        }
    }

    @Test("A silent peer is pinged and then disconnected")
    func silentPeer() async throws {
        var limits = ServerLimits.patient
        limits.pingInterval = .milliseconds(30)
        limits.pongTimeout = .milliseconds(30)
        try await WebSocketBench.run(limits: limits) { bench in
            let client = try await bench.client()
            #expect(try await client.nextFrame() == TestFrame(.ping))
            try await client.connection.expectClosed()
            try await bench.events.next("the end") { $0 == .closed(1006) }
            #expect(await bench.server.application.counters().timeouts == [.pong: 1])
        }
    }

    @Test("A peer that answers pings stays")
    func livingPeer() async throws {
        var limits = ServerLimits.patient
        limits.pingInterval = .milliseconds(10)
        try await WebSocketBench.run(limits: limits) { bench in
            let client = try await bench.client()
            for _ in 0..<4 {
                #expect(try await client.nextFrame() == TestFrame(.ping))
                try await client.pong()
            }
            try await client.send(text: "here")
            #expect(try await client.nextMessage() == .text("here"))
        }
    }

    @Test("An endless ping interval sends no pings")
    func noPings() async throws {
        var limits = ServerLimits.patient
        limits.pingInterval = .seconds(Int64.max)
        try await WebSocketBench.run(limits: limits) { bench in
            let client = try await bench.client()
            for _ in 0..<3 { try await client.expectNothing() }
            try await client.send(text: "here")
            #expect(try await client.nextFrame() == TestFrame(.text, "here"))
        }
    }

    @Test("A peer that doesn't answer a close is dropped")
    func unansweredClose() async throws {
        var limits = ServerLimits.patient
        limits.closeTimeout = .milliseconds(30)
        try await WebSocketBench.run(limits: limits) { bench in
            let client = try await bench.client()
            try await client.send(text: "close")
            #expect(try await client.nextFrame().opcode == .close)
            try await client.connection.expectClosed()
            #expect(bench.events.all.filter { if case .closed = $0 { true } else { false } } == [.closed(1000)])
            #expect(await bench.server.application.counters().timeouts == [.close: 1])
        }
    }

    @Test("A peer that doesn't read is disconnected and delays no other")
    func slowReader() async throws {
        var limits = ServerLimits.patient
        limits.messageRate = 0
        // The kernel's buffer of a Unix socket is small and has a known size.
        try await WebSocketBench.run(at: "/tmp/ls-room-\(UUID().uuidString)", limits: limits) { bench in
            let sender = try await bench.client("/room?loop=1")
            let reader = try await bench.client("/room?loop=1")
            let slow = try await bench.client("/room?loop=1")
            for _ in 0..<3 { try await bench.events.next("a peer") { $0 == .opened(loop: 1) } }
            let message = [UInt8](repeating: 7, count: 4096)
            var rounds = 0
            while !bench.events.all.contains(.closed(1006)) {
                rounds += 1
                try #require(rounds < 100)
                for _ in 0..<4 { try await sender.send(binary: message) }
                for _ in 0..<4 { #expect(try await reader.nextMessage() == .binary(message)) }
            }
            #expect(await bench.server.application.counters().slowPeers == 1)
            try await sender.send(text: "go on")
            #expect(try await reader.nextMessage() == .text("go on"))
            await slow.close()
        }
    }

    @Test("Pings from a peer that doesn't read use bounded memory")
    func pingFlood() async throws {
        var limits = ServerLimits.patient
        limits.messageRate = 0
        try await WebSocketBench.run(at: "/tmp/ls-flood-\(UUID().uuidString)", limits: limits) { bench in
            let client = try await bench.client()
            let pings = (0..<1000).flatMap { TestFrame(.ping, [UInt8($0 & 0x7F)]).bytes() }
            do {
                for _ in 0..<200 where !bench.events.all.contains(.closed(1006)) {
                    try await client.connection.send(pings)
                }
            } catch ClientFailure.reset {}
            try await bench.events.next("the cut") { $0 == .closed(1006) }
            #expect(await bench.server.application.counters().slowPeers == 1)
        }
    }
}
