import Rooms
import Scheduling
import Sockets
import Wire

/// The server's own messages in a match's room. They are binary, as the app expects.
enum AleFrame {
    private static let handshakeFrame = LoopLocal<SharedBytes>()

    /// Greets a peer that has connected. Each loop's own: no other thread counts its references.
    static func handshake(on reactor: Reactor) -> SharedBytes {
        handshakeFrame.value(on: reactor) { SharedBytes(frame(#"{"type":"handshake"}"#)) }
    }

    /// Somebody else in the room sent an ale of this kind.
    static func aleResponse(_ kind: CheerKind) -> [UInt8] {
        guard let name = kind.name else { return frame(#"{"type":"aleResponse"}"#) }
        return frame(#"{"type":"aleResponse","kind":"\#(name)"}"#)
    }

    /// So many people are in the room, and there is one's partner: for who asked.
    static func presence(_ presence: PresenceCount) -> [UInt8] {
        let partner = presence.partner.map { #","partner":"\#($0.rawValue)""# } ?? ""
        return frame(#"{"type":"presence","data":{"count":\#(presence.count)\#(partner)}}"#)
    }

    /// One goes on in another room.
    static func rematched(_ rematch: Rematch) -> [UInt8] {
        var bytes: [UInt8] = []
        WebSocketFrameEncoder.encode(.binary, rematch.json, into: &bytes)
        return bytes
    }

    /// The payload that answers a message which can't be granted.
    static func error(_ reason: String) -> [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("type", "error")
            object.member("reason", reason)
        }
        return json.bytes
    }

    private static func frame(_ message: String) -> [UInt8] {
        var bytes: [UInt8] = []
        WebSocketFrameEncoder.encode(.binary, Array(message.utf8), into: &bytes)
        return bytes
    }
}
