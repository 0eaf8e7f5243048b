import Server
import Wire

/// The server's own messages in a room. They are binary, as the app expects.
enum RoomFrame {
    /// Greets a peer that has connected.
    static let handshake = WebSocketFrameEncoder.encode(.binary, Array(#"{"type":"handshake"}"#.utf8))

    /// Somebody else in the room sent an ale.
    static let aleResponse = WebSocketFrameEncoder.encode(.binary, Array(#"{"type":"aleResponse"}"#.utf8))

    /// The payload that answers a message which can't be granted.
    static func error(_ reason: String) -> [UInt8] {
        Array(#"{"type":"error","reason":\#(JSONText.quoted(reason))}"#.utf8)
    }
}
