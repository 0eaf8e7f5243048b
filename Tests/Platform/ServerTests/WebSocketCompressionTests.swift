import Server
import Sockets
import TestSupport
import Testing
import Wire

@Suite struct WebSocketCompressionTests {
    /// Echoes messages, either directly or as an encoded frame, like a broadcast.
    private final class Echo: WebSocketHandler {
        let isBroadcast: Bool
        init(isBroadcast: Bool) { self.isBroadcast = isBroadcast }

        func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {
            if isBroadcast {
                webSocket.send(frame: SharedBytes { WebSocketFrameEncoder.encode(opcode, message, into: &$0) })
            } else {
                webSocket.send(Array(message), opcode)
            }
        }

        func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {}
    }

    private static let offer = "permessage-deflate; client_max_window_bits"

    private func withServer(_ body: (TestServer) async throws -> Void) async throws {
        try await TestServer.run { routes in
            routes.webSocket("plain") { _, _ in Echo(isBroadcast: false) }
            routes.webSocket("single", compression: .noContextTakeover) { _, _ in Echo(isBroadcast: false) }
            routes.webSocket("kept", compression: .full) { _, _ in Echo(isBroadcast: false) }
            routes.webSocket("broadcast", compression: .full) { _, _ in Echo(isBroadcast: true) }
        } _: {
            try await body($0)
        }
    }

    private func connect(
        _ server: TestServer, _ path: String, offering offer: String? = offer
    ) async throws -> (RawConnection, answer: String?, status: Int) {
        let connection = try await server.connection()
        let field = offer.map { "Sec-WebSocket-Extensions: \($0)\r\n" } ?? ""
        // Inserts the field before the empty line.
        try await connection.send(WebSocketBench.handshake(path).dropLast(2) + Array("\(field)\r\n".utf8))
        let head = try await HTTPTestClient(over: connection).readHead()
        return (connection, head.headers["Sec-WebSocket-Extensions"], head.status)
    }

    /// Returns the first byte and the payload of the next frame, which must be shorter than 126 bytes.
    private func shortFrame(_ connection: RawConnection) async throws -> (first: UInt8, payload: [UInt8]) {
        let header = try await connection.receiveExactly(2)
        try #require(header[1] < 126)
        return (header[0], try await connection.receiveExactly(Int(header[1])))
    }

    private func inflated(
        _ payload: [UInt8], _ client: inout WebSocketDeflate, _ pool: WebSocketDeflatePool
    ) throws -> [UInt8] {
        try payload.withUnsafeBytes { Array(try client.inflate($0, .text, maxMessageBytes: 5000, with: pool)) }
    }

    @Test(
        "Each route answers an offer by its policy",
        arguments: [
            ("/plain", offer, nil),
            ("/single", offer, "permessage-deflate; server_no_context_takeover; client_no_context_takeover"),
            ("/kept", offer, "permessage-deflate"),
            (
                "/kept", "permessage-deflate; server_max_window_bits=9; client_max_window_bits=10",
                "permessage-deflate; server_max_window_bits=9; client_max_window_bits=10"
            ),
            ("/kept", "permessage-deflate; server_max_window_bits=7", nil), ("/kept", "x-other", nil),
        ] as [(String, String, String?)])
    func negotiation(path: String, offer: String, expected: String?) async throws {
        try await withServer { server in
            let (connection, answer, status) = try await connect(server, path, offering: offer)
            #expect(status == 101)
            #expect(answer == expected)
            try await connection.send(TestFrame(.text, "a").bytes())
            #expect(try await connection.receiveExactly(3) == [0x81, 1, 0x61])
        }
    }

    @Test("An offer that violates RFC 6455 §9.1 is a bad request", arguments: ["/plain", "/kept"])
    func malformedOffer(path: String) async throws {
        try await withServer { server in
            let status = try await connect(server, path, offering: "permessage-deflate; =").status
            #expect(status == 400)
        }
    }

    @Test("Messages are decompressed, and long responses are compressed", arguments: ["/single", "/kept"])
    func compressed(path: String) async throws {
        try await withServer { server in
            let connection = try await connect(server, path).0
            // The message of RFC 7692 §7.2.3.1. The echo is too short to be compressed.
            try await connection.send(
                TestFrame(.text, [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], reserved: 4).bytes())
            #expect(try await connection.receiveExactly(7) == [0x81, 5] + Array("Hello".utf8))

            let text = String(repeating: "ale ", count: 100)
            var client = WebSocketDeflate(WebSocketDeflateParameters())
            let pool = WebSocketDeflatePool()
            var sizes: [Int] = []
            for _ in 0..<2 {
                try await connection.send(TestFrame(.text, text).bytes())
                let (first, payload) = try await shortFrame(connection)
                #expect(first == 0xC1)
                #expect(try inflated(payload, &client, pool) == Array(text.utf8))
                sizes.append(payload.count)
            }
            let counters = await server.application.counters()
            #expect(counters.receivedCompressedMessages == 1 && counters.receivedMessages == 3)
            #expect(counters.sentCompressedMessages == 2 && counters.sentMessages == 3)
            if path == "/kept" { #expect(sizes[1] < sizes[0]) } else { #expect(sizes[1] == sizes[0]) }
        }
    }

    @Test("A broadcast frame is sent uncompressed to every member")
    func broadcast() async throws {
        try await withServer { server in
            let connection = try await connect(server, "/broadcast").0
            let text = [UInt8](repeating: 0x61, count: 125)
            try await connection.send(TestFrame(.text, text).bytes())
            let (first, payload) = try await shortFrame(connection)
            #expect(first == 0x81 && payload == text)
        }
    }

    @Test(
        "A violation of compression closes only its own connection",
        arguments: [
            ("/kept", 1002, "RFC 7692 §6.1", TestFrame(.ping, "x", reserved: 4)),
            ("/kept", 1007, "RFC 7692 §7.2:", TestFrame(.binary, [0x06], reserved: 4)),
            ("/single", 1007, "RFC 7692 §7.2.1", TestFrame(.binary, [], reserved: 4)),
            ("/single", 1007, "RFC 6455 §8.1", TestFrame(.text, [0, 1, 0, 0xFE, 0xFF, 0xFF, 0], reserved: 4)),
            ("/plain", 1002, "RFC 6455 §5.2", TestFrame(.text, [0x00], reserved: 4)),
        ] as [(String, Int, String, TestFrame)])
    func mistakes(path: String, code: Int, rule: String, frame: TestFrame) async throws {
        try await withServer { server in
            let other = try await connect(server, path).0
            let connection = try await connect(server, path).0
            try await connection.send(frame.bytes())
            let (first, payload) = try await shortFrame(connection)
            #expect(first == 0x88)
            #expect(payload.prefix(2) == [UInt8(code >> 8), UInt8(code & 255)])
            #expect(String(decoding: payload.dropFirst(2), as: UTF8.self).hasPrefix(rule))
            try await connection.expectClosed()
            try await other.send(TestFrame(.text, "a").bytes())
            #expect(try await other.receiveExactly(3) == [0x81, 1, 0x61])
        }
    }

    @Test("A decompression bomb is refused as too big", arguments: ["/single", "/kept"])
    func bomb(path: String) async throws {
        try await withServer { server in
            let connection = try await connect(server, path).0
            var bomber = WebSocketDeflate(WebSocketDeflateParameters())
            let pool = WebSocketDeflatePool()
            let payload = try #require(
                [UInt8](repeating: 0, count: 1 << 20).withUnsafeBytes { zeros in
                    withExtendedLifetime(pool) { bomber.deflate(zeros, with: pool).map { Array($0) } }
                })
            try await connection.send(TestFrame(.binary, payload, reserved: 4).bytes())
            let (first, reason) = try await shortFrame(connection)
            #expect(first == 0x88 && reason.prefix(2) == [0x03, 0xF1])
            #expect(await server.application.counters().receivedMessages == 0)
        }
    }
}
