import Foundation
import Server
import Sockets
import TestSupport
import Testing
import Wire

@testable import Questions

/// The recipients of a message among the WebSockets of a server.
@Suite struct SendOptionTests {
    /// The people who have joined, on the only loop.
    private final class Audience {
        var sockets: [WebSocket] = []
    }

    private final class Listener: WebSocketHandler {
        func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {}
        func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {}
    }

    @Test("The option .socket selects exactly that socket")
    func socket() async throws {
        let (audience, selections) = (LoopLocal<Audience>(), EventRecorder<[Bool]>())
        let responder = Responder(
            mapError: { _ in Abort(.internalServerError, reason: "mapped") },
            routes: { routes in
                routes.webSocket("socket") { _, webSocket in
                    let audience = audience.value(on: webSocket.reactor) { Audience() }
                    audience.sockets.append(webSocket)
                    let (option, id) = (WebSocketSendOption.socket(audience.sockets[0]), UUID())
                    selections.append((audience.sockets + [nil]).map { option.selects(id: id, $0) })
                    return Listener()
                }
            })
        let application = Application(
            on: try EventLoopGroup(count: 1), limits: ServerLimits(), responder: responder)
        do {
            let bound = try await application.listen(
                on: [ServerEndpoint(SocketAddress.resolve(host: "127.0.0.1", port: 0)[0], speaksTLS: false)])
            let endpoint = try #require(bound.first.flatMap { ClientEndpoint($0.address.description) })
            for expected in [[true, false], [true, false, false]] {
                let client = try await WebSocketTestClient.connect(to: endpoint, "/socket")
                try await selections.next("who is selected") { $0 == expected }
                await client.close()
            }
        } catch {
            await application.stop()
            throw error
        }
        await application.stop()
    }
}
