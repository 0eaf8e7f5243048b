import TestSupport
import Testing

/// Our client against python3-websockets' server, and its client, driven by us, against it: two opinions on RFC 6455.
@Suite struct PythonWebSocketTests {
    /// Echoes messages; closes with 4000 when told to; refuses `/refused`.
    private static let server = #"""
        import asyncio, http, websockets

        async def echo(connection):
            async for message in connection:
                if message == "close":
                    await connection.close(4000, "told so")
                    return
                await connection.send(message)

        async def refuse(path, headers):
            return (http.HTTPStatus.FORBIDDEN, [("Retry-After", "5")], b"no") if path == "/refused" else None

        async def main():
            server = await websockets.serve(echo, "127.0.0.1", 0, compression=None, process_request=refuse)
            print(server.sockets[0].getsockname()[1], flush=True)
            await asyncio.Future()

        asyncio.run(main())
        """#

    private func start() async throws -> (process: ChildProcess, endpoint: ClientEndpoint) {
        let process = try await ChildProcess.start(
            "/usr/bin/python3", ["-u", "-c", Self.server], environment: DaemonProcess.cleanEnvironment())
        let line = try await process.lines.next("the server's port") { $0.stream == .output }
        return (process, .tcp(host: "127.0.0.1", port: try #require(UInt16(line.text))))
    }

    @Test("Our client and the library's server understand each other")
    func ourClient() async throws {
        let (process, endpoint) = try await start()
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
        try await client.expectSilence()
        try await client.send(text: "close")
        #expect(try await client.expectClose(4000) == "told so")

        let other = try await WebSocketTestClient.connect(to: endpoint, "/a")
        try await other.closeHandshake()
        let unmasked = try await WebSocketTestClient.connect(to: endpoint, "/a")
        try await unmasked.connection.send(TestFrame(.text, "x").bytes(mask: nil))
        try await unmasked.expectClose(1002)
        let refusal = try await WebSocketTestClient.refusal(at: endpoint, "/refused")
        #expect(refusal.status == 403)
        #expect(refusal.text == "no")
        await process.signal(9)
    }

    @Test("The library's client is driven: messages, pings, closes, refusals, silence")
    func pythonClient() async throws {
        let (process, endpoint) = try await start()
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
        await #expect(throws: TestClose(code: 4000, reason: "told so")) { try await client.nextMessage() }

        let refused = await #expect(throws: UpgradeRefused.self) {
            try await PythonWebSocketClient.connect(to: endpoint, "/refused")
        }
        #expect(refused?.response.status == 403)
        #expect(refused?.response.headers["retry-after"] == "5")
        let closing = try await PythonWebSocketClient.connect(to: endpoint, "/a", compression: true)
        #expect(try await closing.close(3000, "done") == TestClose(code: 3000, reason: "done"))
        await process.signal(9)
    }
}
