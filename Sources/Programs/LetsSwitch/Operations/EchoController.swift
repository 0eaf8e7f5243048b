import Server
import Wire

/// Serves `/echo` if `--echo` is set: sends every WebSocket message back. For conformance suites, which test the same
/// code as `/socket`.
struct EchoController: RouteCollection {
    private static let description = RouteDescription.socket(
        "Echo every message", details: "For conformance tests.")

    func boot(routes: RoutesBuilder) {
        routes.webSocket("echo", as: Self.description, compression: .full) { _, webSocket in
            // Conformance suites send as fast as they can, and no other peer receives their messages.
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
