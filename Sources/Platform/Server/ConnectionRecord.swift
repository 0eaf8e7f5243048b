package import Wire

/// A connection as operators see it: its kind, owner and address, without content.
package struct ConnectionRecord: Sendable {
    package enum Kind: String, Sendable {
        /// It has not completed its PROXY header or TLS handshake.
        case handshake
        case http, stream, websocket
    }

    /// Unique among open connections; see `StreamSocket.inode`.
    package let id: UInt64
    package let kind: Kind
    /// `nil` for a Unix socket.
    package let address: IPAddress?
    package let facts: ConnectionFacts
    /// The number of bytes that the peer hasn't taken.
    package let unsentBytes: Int
}

/// Information about a connection from its handler.
package struct ConnectionFacts: Sendable {
    /// The purpose, in one word.
    package var purpose: String?
    /// The owner's name, as the client gave it.
    package var owner: String?
    /// The room that it is in.
    package var place: String?
    /// The owner's identity in that place, such as a task.
    package var role: String?

    package init(_ purpose: String? = nil, owner: String? = nil, place: String? = nil, role: String? = nil) {
        self.purpose = purpose
        self.owner = owner
        self.place = place
        self.role = role
    }
}
