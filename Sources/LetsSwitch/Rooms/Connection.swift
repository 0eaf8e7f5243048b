import FoundationEssentials
import Server
import Wire

/// One peer of a room: a WebSocket, and its place in the room. On the room's loop.
final class Connection: WebSocketHandler {
    let webSocket: WebSocket
    let room: UUID
    /// The index in the room's array; `nil` when it is in no room. ``RoomMap``'s to set.
    var place: Int?
    private unowned let controller: RoomController

    init(_ webSocket: WebSocket, in room: UUID, of controller: RoomController) {
        self.webSocket = webSocket
        self.room = room
        self.controller = controller
    }

    func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {
        controller.received(message, from: self)
    }

    func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {
        controller.left(self)
    }
}
