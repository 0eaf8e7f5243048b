import FoundationEssentials
import Server
import Wire

/// One peer of a room: a WebSocket, and its place in the room. On the room's loop.
final class Connection: WebSocketHandler {
    let webSocket: WebSocket
    private unowned let controller: RoomController
    let room: Room
    /// The index in the room's array; `nil` when it is in no room. ``RoomMap``'s to set.
    var place: UInt32?
    /// Which of the room's tasks the peer says is its own.
    var task: UUID?
    /// Ales of this turn that are not for this peer: its own, and those of before it came.
    var exemptAles: UInt32 = 0

    init(_ webSocket: WebSocket, in room: Room, of controller: RoomController) {
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
