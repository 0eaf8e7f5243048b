import Server
import Wire

/// Serves `/echo` if `--echo` is set. The route sends every WebSocket message back. Conformance suites use it to test
/// the code of `/socket`.
struct EchoController: RouteCollection {
    private static let description = RouteDescription.socket(
        "Echo every message", details: "For conformance tests.")

    func boot(routes: RoutesBuilder) {
        routes.webSocket("echo", as: Self.description, compression: .full) { _, webSocket in
            // Conformance suites send as fast as they can, and only they receive their messages.
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
