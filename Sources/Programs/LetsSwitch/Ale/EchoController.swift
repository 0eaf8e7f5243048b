import Server
import Wire

/// `/echo`, with `--echo`: sends every WebSocket message back as it came. A door for protocol suites, over the same code as
/// `/socket`.
struct EchoController: RouteCollection {
    func boot(routes: RoutesBuilder) {
        routes.webSocket("echo", as: AleDescriptions.echo, compression: .full) { _, webSocket in
            // Suites send as fast as they can, and nobody else hears of it.
            webSocket.limitsMessageRate = false
            return Echo()
        }
    }

    private final class Echo: WebSocketHandler {
        func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {
            webSocket.send(Array(message), opcode)
        }

        func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {}
    }
}
