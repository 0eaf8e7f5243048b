import Server
import Sockets
import TestSupport
import Testing
import Wire

@Suite struct AudienceTests {
    private static let (guests, staff) = (Audience(rawValue: 1), Audience(rawValue: 2))

    private static let serverError: @Sendable (any Error) -> Abort = { Abort(.internalServerError, reason: "\($0)") }

    /// Runs the body with one listener for each audience, and then with one listener for both.
    private static func withServer(_ body: ([ClientEndpoint]) async throws -> Void) async throws {
        let responder = Responder(mapError: serverError, audience: guests) { routes in
            routes.get("menu", immediately: { _ in .text("menu") })
            routes.group(for: staff) { routes in
                routes.get("till", immediately: { _ in .text("till") })
                routes.post("menu") { _ in Response(.noContent) }
            }
            routes.group(for: .everyone) { $0.get("door", immediately: { _ in .text("door") }) }
            routes.webSocket("table") { _, webSocket in
                webSocket.close(.normalClosure)
                return IgnoringHandler()
            }
        }
        let application = Application(on: try EventLoopGroup(count: 2), limits: .patient, responder: responder)
        do {
            let address = try SocketAddress.resolve(host: "127.0.0.1", port: 0)[0]
            let endpoints = try await application.listen(on: [
                ServerEndpoint(address, audience: guests), ServerEndpoint(address, audience: staff),
                ServerEndpoint(address),
            ])
            try await body(endpoints.compactMap { ClientEndpoint("\($0)") })
        } catch {
            await application.stop()
            throw error
        }
        await application.stop()
    }

    @Test("An endpoint without a proxy needs no PROXY header")
    func proxies() async throws {
        var edge = EdgePolicy()
        edge.expectsProxyHeader = true
        let application = Application(
            on: try EventLoopGroup(count: 2), limits: .patient, edge: edge,
            responder: Responder(mapError: Self.serverError) { $0.addPlain() })
        do {
            let address = try SocketAddress.resolve(host: "127.0.0.1", port: 0)[0]
            let bound = try await application.listen(on: [
                ServerEndpoint(address), ServerEndpoint(address, isBehindProxies: false),
            ])
            let endpoints = bound.compactMap { ClientEndpoint("\($0)") }
            for _ in 0..<2 {
                #expect(try await HTTPTestClient.request(at: endpoints[1], "GET", "/now/1").text == "1")
                let refused = try await RawConnection.connect(to: endpoints[0])
                try await refused.send(Array("GET /now/1 HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
                try await refused.expectClosed()
            }
        } catch {
            await application.stop()
            throw error
        }
        await application.stop()
    }

    private final class IgnoringHandler: WebSocketHandler {
        func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {}
        func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {}
    }

    @Test("A listener serves the routes of its audience, and no others")
    func routes() async throws {
        try await Self.withServer { endpoints in
            for (endpoint, expected) in zip(
                endpoints,
                [
                    ["/menu": 200, "/till": 404, "/door": 200, "/table": 426],
                    ["/menu": 405, "/till": 200, "/door": 200, "/table": 404],
                    ["/menu": 200, "/till": 200, "/door": 200, "/table": 426],
                ])
            {
                // Connections are distributed to both loops.
                for _ in 0..<2 {
                    for (path, status) in expected {
                        let answer = try await HTTPTestClient.request(at: endpoint, "GET", path)
                        #expect(answer.status == status, "\(endpoint) \(path)")
                    }
                }
            }
            let wrong = try await HTTPTestClient.request(at: endpoints[0], "POST", "/menu")
            #expect(wrong.status == 405 && wrong.headers["Allow"] == "GET, HEAD, OPTIONS")
        }
    }
}
