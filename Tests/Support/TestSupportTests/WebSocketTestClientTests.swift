import TestSupport
import Testing
import Wire

@Suite struct WebSocketTestClientTests {
    /// Answers the handshake correctly, then runs the script.
    private func server(_ script: @escaping @Sendable (ScriptedPeer) -> Void) throws -> ScriptedServer {
        try ScriptedServer { peer in
            peer.write(Self.acceptance(of: peer.readHead()))
            script(peer)
        }
    }

    private static func acceptance(of head: String) -> String {
        let key = head.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19) ?? ""
        return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(WebSocketClientHandshake.acceptValue(forKey: String(key)))\r\n\r\n"
    }

    @Test(
        "Frames match the examples of RFC 6455 §5.7",
        arguments: [
            (TestFrame(.text, "Hello").bytes(mask: nil), [0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]),
            (
                TestFrame(.text, "Hello").bytes(mask: [0x37, 0xfa, 0x21, 0x3d]),
                [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]
            ),
            (TestFrame(.text, "Hel", isFinal: false).bytes(mask: nil), [0x01, 0x03, 0x48, 0x65, 0x6c]),
            (TestFrame(.continuation, "lo").bytes(mask: nil), [0x80, 0x02, 0x6c, 0x6f]),
            (
                Array(TestFrame(.binary, [UInt8](repeating: 0, count: 256)).bytes(mask: nil).prefix(4)),
                [0x82, 0x7E, 0x01, 0x00]
            ),
            (
                Array(TestFrame(.binary, [UInt8](repeating: 0, count: 65536)).bytes(mask: nil).prefix(10)),
                [0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0]
            ),
            (TestFrame(.binary, [1]).bytes(mask: nil, lengthForm: .sixteenBits), [0x82, 0x7E, 0, 1, 1]),
            (TestFrame(.ping, reserved: 4).bytes(mask: nil, announcedLength: 3), [0xC9, 3]),
        ] as [([UInt8], [UInt8])])
    func vectors(bytes: [UInt8], expected: [UInt8]) {
        #expect(bytes == expected)
    }

    @Test("A refused upgrade returns the response")
    func refused() async throws {
        let server = try ScriptedServer { peer in
            peer.readHead()
            peer.write("HTTP/1.1 403 Forbidden\r\nRetry-After: 60\r\nContent-Length: 2\r\n\r\n{}")
        }
        let response = try await WebSocketTestClient.refusal(at: server.endpoint, "/socket?id=1")
        #expect(response.status == 403)
        #expect(response.headers["retry-after"] == "60")
        #expect(response.text == "{}")
        let refused = await #expect(throws: UpgradeRefused.self) {
            try await WebSocketTestClient.connect(to: server.endpoint, "/socket?id=1")
        }
        #expect(refused?.response == response)
    }

    @Test(
        "An invalid acceptance is refused",
        arguments: [
            ("Sec-WebSocket-Accept: ", "Sec-WebSocket-Accept: x"), ("Upgrade: websocket\r\n", ""),
            ("Connection: Upgrade\r\n", "Connection: close\r\n"),
            ("Connection: Upgrade\r\n", "Connection: Upgrade\r\nSec-WebSocket-Extensions: permessage-deflate\r\n"),
            ("Connection: Upgrade\r\n", "Connection: Upgrade\r\nSec-WebSocket-Protocol: chat\r\n"),
        ])
    func badAcceptance(part: String, replacement: String) async throws {
        let server = try ScriptedServer { peer in
            peer.write(Self.acceptance(of: peer.readHead()).replacing(part, with: replacement))
        }
        await #expect(throws: ClientFailure.self) {
            try await WebSocketTestClient.connect(to: server.endpoint, "/")
        }
    }

    @Test("Messages of every length arrive completely")
    func receives() async throws {
        let pongs = EventRecorder<TestFrame>()
        let server = try server { peer in
            peer.write(TestFrame(.text, "héllo").bytes(mask: nil))
            for size in [125, 126, 65_535, 65_536] {
                peer.write(TestFrame(.binary, [UInt8](repeating: 7, count: size)).bytes(mask: nil))
            }
            peer.write(TestFrame(.text, "a", isFinal: false).bytes(mask: nil))
            peer.write(TestFrame(.ping, "!").bytes(mask: nil))
            peer.write(TestFrame(.continuation, "b").bytes(mask: nil))
            pongs.append(peer.readFrame())
        }
        let client = try await WebSocketTestClient.connect(to: server.endpoint, "/")
        #expect(try await client.nextMessage() == .text("héllo"))
        for size in [125, 126, 65_535, 65_536] {
            #expect(try await client.nextMessage() == .binary([UInt8](repeating: 7, count: size)))
        }
        #expect(try await client.nextMessage() == .text("ab"))
        #expect(try await pongs.next() == TestFrame(.pong, "!"))
    }

    @Test(
        "An invalid frame is refused",
        arguments: [
            TestFrame(.text, "masked").bytes(), TestFrame(.text, reserved: 4).bytes(mask: nil),
            TestFrame(.init(3)).bytes(mask: nil), TestFrame(.init(11)).bytes(mask: nil),
            TestFrame(.ping, isFinal: false).bytes(mask: nil),
            TestFrame(.ping, [UInt8](repeating: 0, count: 126)).bytes(mask: nil),
            TestFrame(.binary, "x").bytes(mask: nil, lengthForm: .sixteenBits),
            TestFrame(.binary, "x").bytes(mask: nil, lengthForm: .sixtyFourBits),
            TestFrame(.binary).bytes(mask: nil, lengthForm: .sixtyFourBits, announcedLength: 1 << 63),
            TestFrame(.continuation, "x").bytes(mask: nil),
            TestFrame(.text, isFinal: false).bytes(mask: nil) + TestFrame(.text).bytes(mask: nil),
            TestFrame(.text, [0xC0, 0x80]).bytes(mask: nil), TestFrame(.close, [3]).bytes(mask: nil),
            TestFrame.close(1005).bytes(mask: nil), TestFrame.close(999).bytes(mask: nil),
            TestFrame(.close, [3, 0xE8, 0xFF]).bytes(mask: nil),
        ])
    func violations(bytes: [UInt8]) async throws {
        let server = try server { peer in
            peer.write(bytes)
            _ = peer.read(1)
        }
        let client = try await WebSocketTestClient.connect(to: server.endpoint, "/")
        let failure = await #expect(throws: ClientFailure.self) { try await client.nextMessage() }
        guard case .violation = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test("The server's close is echoed once", arguments: [1000, 1001])
    func expectClose(code: UInt16) async throws {
        let echoes = EventRecorder<[UInt8]>()
        let server = try server { peer in
            peer.write(TestFrame(.binary, "last").bytes(mask: nil) + TestFrame.close(1000, "bye").bytes(mask: nil))
            echoes.append(peer.readFrame().payload)
        }
        let client = try await WebSocketTestClient.connect(to: server.endpoint, "/")
        if code == 1000 {
            #expect(try await client.expectClose(code, passingOver: true) == "bye")
        } else {
            await #expect(throws: ClientFailure.self) { try await client.expectClose(code, passingOver: true) }
        }
        #expect(try await echoes.next() == [0x03, 0xE8])
    }

    @Test("The client's close waits for its echo and the end")
    func closeHandshake() async throws {
        let server = try server { peer in peer.write(TestFrame(.close, peer.readFrame().payload).bytes(mask: nil)) }
        let client = try await WebSocketTestClient.connect(to: server.endpoint, "/")
        try await client.closeHandshake(3000)
    }

    @Test("Silence is a pong without anything before it", arguments: [false, true])
    func silence(isBroken: Bool) async throws {
        let server = try server { peer in
            let ping = peer.readFrame()
            if isBroken { peer.write(TestFrame(.binary, "!").bytes(mask: nil)) }
            peer.write(TestFrame(.pong, ping.payload).bytes(mask: nil))
        }
        let client = try await WebSocketTestClient.connect(to: server.endpoint, "/")
        if isBroken {
            await #expect(throws: ClientFailure.self) { try await client.expectNothing() }
        } else {
            try await client.expectNothing()
        }
    }

    @Test("Fragments are sent as first, continuations and last")
    func fragments() async throws {
        let frames = EventRecorder<TestFrame>()
        let server = try server { peer in for _ in 0..<3 { frames.append(peer.readFrame()) } }
        let client = try await WebSocketTestClient.connect(to: server.endpoint, "/")
        try await client.send(fragments: [[1], [], [2]], as: .binary)
        #expect(try await frames.next() == TestFrame(.binary, [1], isFinal: false))
        #expect(try await frames.next() == TestFrame(.continuation, [], isFinal: false))
        #expect(try await frames.next() == TestFrame(.continuation, [2]))
    }
}
