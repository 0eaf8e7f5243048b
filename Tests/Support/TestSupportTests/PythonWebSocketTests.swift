import TestSupport
import Testing

/// Our test client and the client of python3-websockets, both with the server of python3-websockets.
@Suite struct PythonWebSocketTests {
    @Test("The test client and the Python library's server work together")
    func ourClient() async throws {
        let server = try await PythonWebSocketServer.start()
        let endpoint = server.endpoint
        let client = try await WebSocketTestClient.connect(to: endpoint, "/a")
        try await client.send(text: "héllo")
        #expect(try await client.nextMessage() == .text("héllo"))
        for size in [0, 125, 126, 65_535, 65_536, 200_000] {
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
            try await client.send(binary: bytes)
            #expect(try await client.nextMessage() == .binary(bytes))
        }
        try await client.send(fragments: [Array("ab".utf8), [], Array("c".utf8)], as: .text)
        #expect(try await client.nextMessage() == .text("abc"))
        try await client.expectNothing()
        try await client.send(text: "close")
        #expect(try await client.expectClose(4000) == "the test closes")

        let other = try await WebSocketTestClient.connect(to: endpoint, "/a")
        try await other.closeHandshake()
        let unmasked = try await WebSocketTestClient.connect(to: endpoint, "/a")
        try await unmasked.connection.send(TestFrame(.text, "x").bytes(mask: nil))
        try await unmasked.expectClose(1002)
        let refusal = try await WebSocketTestClient.refusal(at: endpoint, "/refused")
        #expect(refusal.status == 403)
        #expect(refusal.text == "no")
        await server.kill()
    }

    @Test("The Python library's client can be controlled")
    func pythonClient() async throws {
        let server = try await PythonWebSocketServer.start()
        let endpoint = server.endpoint
        let client = try await PythonWebSocketClient.connect(to: endpoint, "/a")
        try await client.send(text: "héllo")
        #expect(try await client.nextMessage() == .text("héllo"))
        try await client.send(binary: [0, 255, 1])
        #expect(try await client.nextMessage() == .binary([0, 255, 1]))
        try await client.ping()
        let failure = await #expect(throws: ClientFailure.self) {
            try await client.nextMessage(within: .milliseconds(100))
        }
        #expect(
            failure == .timedOut(waitingFor: "a message", after: .milliseconds(100), received: "nothing"))
        try await client.send(text: "close")
        await #expect(throws: TestClose(code: 4000, reason: "the test closes")) { try await client.nextMessage() }

        let refused = await #expect(throws: UpgradeRefused.self) {
            try await PythonWebSocketClient.connect(to: endpoint, "/refused")
        }
        #expect(refused?.response.status == 403)
        #expect(refused?.response.headers["retry-after"] == "5")
        let closing = try await PythonWebSocketClient.connect(to: endpoint, "/a", compression: true)
        #expect(try await closing.close(3000, "done") == TestClose(code: 3000, reason: "done"))
        await server.kill()
    }
}
