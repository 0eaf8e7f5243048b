import Domain
import FoundationEssentials
package import Rooms
package import Server
package import Wire

/// Handles the messages that a WebSocket of `/socket` sends in its room. Must be used on the room's loop.
extension Connection: WebSocketHandler {
    package func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode)
    {
        switch AleMessage(message) {
        case .ale(room.id, let kind):
            cheer(kind)
        case .ale:
            webSocket.send(AleFrame.error("The id of an ale must be the id of this room."), .binary)
        case .unknown(let reason):
            webSocket.send(AleFrame.error(reason), .binary)
        }
    }

    package var facts: ConnectionFacts {
        ConnectionFacts("room", place: room.id.text, role: claimedIdentity?.text)
    }

    package func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {
        leave()
    }
}
