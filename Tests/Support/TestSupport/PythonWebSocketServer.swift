import Glibc

/// An independent WebSocket server, Debian's `python3-websockets`. It echoes messages, closes with 4000 on request,
/// refuses `/refused`, and reports the close code of each connection.
package struct PythonWebSocketServer: Sendable {
    private static let script = #"""
        import asyncio, http, websockets

        async def echo(connection):
            try:
                async for message in connection:
                    if message in ("close", '"close"'):
                        await connection.close(4000, "the test closes")
                        return
                    await connection.send(message)
            except websockets.exceptions.ConnectionClosed:
                pass
            finally:
                await connection.wait_closed()
                print("closed", connection.close_code, flush=True)

        async def refuse(path, headers):
            return (http.HTTPStatus.FORBIDDEN, [("Retry-After", "5")], b"no") if path == "/refused" else None

        async def main():
            server = await websockets.serve(echo, "127.0.0.1", 0, compression=None, process_request=refuse)
            print(server.sockets[0].getsockname()[1], flush=True)
            await asyncio.Future()

        asyncio.run(main())
        """#

    private let process: ChildProcess
    package let port: UInt16

    package var endpoint: ClientEndpoint { .tcp(host: "127.0.0.1", port: port) }

    package static func start() async throws -> PythonWebSocketServer {
        let process = try await ChildProcess.start(
            "/usr/bin/python3", ["-u", "-c", script], environment: DaemonProcess.cleanEnvironment())
        let line = try await process.lines.next("the server's port") { $0.stream == .output }
        guard let port = UInt16(line.text) else { throw ClientFailure.violation("no port: \(line.text)") }
        return PythonWebSocketServer(process: process, port: port)
    }

    /// Returns the close code of the next connection that ends, as the server sees it.
    package func nextClose() async throws -> UInt16? {
        let line = try await process.lines.next("the end of a connection") { $0.text.hasPrefix("closed ") }
        return UInt16(line.text.dropFirst("closed ".count))
    }

    package func kill() async { await process.signal(SIGKILL) }
}
