package import Rooms
import Schedule
package import Server
package import Sockets
import Wire

/// Sends messages of a room to a WebSocket of `/socket`.
extension WebSocket: RoomPeer {
    /// Sends the greeting to a peer that has entered its room.
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
        case is PersonErased: close(.normalClosure, "the device's data was erased")
        default: break
        }
    }

    package func roomClosed() {
        close(.normalClosure, "the room has closed")
    }
}
