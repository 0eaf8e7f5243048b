package import Rooms
import Schedule
import Sockets
import Wire

/// The server's own messages in a match's room. They are binary, as the app expects.
package enum AleFrame {
    private static let handshakeFrame = LoopLocal<SharedBytes>()

    /// Returns the greeting for a new member. Each loop has its own copy, so that threads don't share its reference
    /// count.
    static func handshake(on reactor: Reactor) -> SharedBytes {
        handshakeFrame.value(on: reactor) { SharedBytes(frame(#"{"type":"handshake"}"#)) }
    }

    /// Reports an ale of this kind from another member.
    package static func aleResponse(_ kind: CheerKind) -> [UInt8] {
        guard let name = kind.name else { return frame(#"{"type":"aleResponse"}"#) }
        return frame(#"{"type":"aleResponse","kind":"\#(name)"}"#)
    }

    /// Reports the number of people in the room, and whether the partner is there. Sent to members that asked for
    /// presence.
    static func presence(_ presence: PresenceCount) -> [UInt8] {
        let partner = presence.partner.map { #","partner":"\#($0.rawValue)""# } ?? ""
        return frame(#"{"type":"presence","data":{"count":\#(presence.count)\#(partner)}}"#)
    }

    /// Reports that the task has moved to another room.
    static func rematched(_ rematch: Rematch) -> [UInt8] {
        var bytes: [UInt8] = []
        WebSocketFrameEncoder.encode(.binary, rematch.json, into: &bytes)
        return bytes
    }

    /// Reports that a message was invalid.
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
