import Domain
import FoundationEssentials
package import Rooms
import Scheduling
package import Server
package import Sockets
package import Wire

/// What a WebSocket of `/socket` says, in its room. On the room's loop.
extension Connection: WebSocketHandler {
    package func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode)
    {
        switch AleMessage(message) {
        case .ale(room.id, let kind):
            cheer(kind)
        case .ale:
            webSocket.send(AleFrame.error("The id of an ale is that of the room one is in."), .binary)
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

/// What a WebSocket of `/socket` is sent.
extension WebSocket: RoomPeer {
    /// It is in its room.
    func greet() {
        send(frame: AleFrame.handshake(on: reactor))
    }

    package func deliver(ales count: Int, of kind: CheerKind, frame: SharedBytes) {
        send(frame: frame, times: count)
    }

    package func deliver(_ publication: Publication) {
        switch publication.message {
        case let presence as PresenceCount:
            send(frame: publication.form { SharedBytes(AleFrame.presence(presence)) })
        case let rematch as Rematch:
            send(frame: publication.form { SharedBytes(AleFrame.rematched(rematch)) })
        case is PersonErased: close(.normalClosure, "the device was erased")
        default: break
        }
    }

    package func roomClosed() {
        close(.normalClosure, "the room is over")
    }
}
