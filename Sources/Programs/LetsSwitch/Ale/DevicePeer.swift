import Rooms
import Server
import Sockets

/// A WebSocket of `/socket` whose device is known, and not its task: it is told how many are there, and not of a partner, whom it doesn't
/// have.
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
