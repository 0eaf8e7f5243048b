import Server
import TestSupport
import Testing
import Wire

/// Requests of all forms, each followed by a trap: a request that must be read only if the form allows it.
@Suite struct HTTPShapeTests {
    private final class IgnoringHandler: WebSocketHandler {
        func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {}
        func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {}
    }

    private static let trap = Array("GET /trap HTTP/1.1\r\nHost: trap\r\nConnection: close\r\n\r\n".utf8)

    @Test(
        "Each form of request has its response")
    func shapes() async throws {
        let trapped = EventRecorder<String>()
        try await TestServer.run { routes in
            routes.addPlain()
            routes.get(
                "trap",
                immediately: { request in
                    trapped.append(request.head.host ?? "")
                    return .text("trapped")
                })
            routes.webSocket("socket") { _, _ in IgnoringHandler() }
        } _: { server in
            for shape in HTTPShape.all {
                for size in [shape.bytes.count + Self.trap.count, 7] where size > 7 || shape.bytes.count < 400 {
                    let before = trapped.all.count
                    let answers = try await Self.answers(to: shape.bytes + Self.trap, inPiecesOf: size, at: server)
                    let expected = shape.statuses + (shape.ends ? [] : [200])
                    #expect(answers == expected, "\(shape) in pieces of \(size)")
                    #expect(trapped.all.count - before == (shape.ends ? 0 : 1), "\(shape)")
                }
            }
            #expect(trapped.all.allSatisfy { $0 == "trap" })
        }
        #expect(HTTPShape.all.count > 200)
    }

    /// Returns the statuses of all answers until the server closes the connection.
    private static func answers(to bytes: [UInt8], inPiecesOf size: Int, at server: TestServer) async throws -> [Int] {
        let connection = try await server.connection()
        // A server that has refused the request may close before it reads the rest. That isn't a failure.
        do { try await connection.send(bytes, inPiecesOf: size) } catch is ClientFailure {}
        let received = String(decoding: try await connection.receiveToEnd(), as: UTF8.self)
        await connection.close()
        // No answer's body contains this text.
        return received.split(separator: "HTTP/1.1 ", omittingEmptySubsequences: false).dropFirst()
            .compactMap { Int($0.prefix(3)) }
    }

    @Test("The authority of an absolute target overrides Host")
    func absolute() async throws {
        try await TestServer.run { routes in
            routes.get("host", immediately: { .text($0.head.host ?? "none") })
        } _: { server in
            let connection = try await server.connection()
            try await connection.send("GET http://b:81/host HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try await HTTPTestClient(over: connection).readResponse(to: "GET").text == "b:81")
        }
    }
}
