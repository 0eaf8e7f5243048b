import Rooms
import Server
import Sockets

/// A WebSocket of `/socket` that names a device but no task. It receives the number of people, but has no partner.
final class DevicePeer: RoomPeer {
    private struct Frame {
        let bytes: SharedBytes
    }

    private let webSocket: WebSocket

    init(_ webSocket: WebSocket) {
        self.webSocket = webSocket
    }

    func deliver(ales count: Int, of kind: CheerKind, frame: SharedBytes) {
        webSocket.deliver(ales: count, of: kind, frame: frame)
    }

    func deliver(_ publication: Publication) {
        guard let presence = publication.message as? PresenceCount else { return webSocket.deliver(publication) }
        let frame = publication.form { Frame(bytes: SharedBytes(AleFrame.presence(PresenceCount(presence.count)))) }
        webSocket.send(frame: frame.bytes)
    }

    func roomClosed() {
        webSocket.roomClosed()
    }
}
