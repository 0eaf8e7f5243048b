package import Wire

/// A connection in the form that operators see: its kind, owner and address, without content.
package struct ConnectionRecord: Sendable {
    package enum Kind: String, Sendable {
        /// The PROXY header or the TLS handshake isn't complete yet.
        case handshake
        case http, stream, websocket
    }

    /// A number that is unique among open connections, see `StreamSocket.inode`.
    package let id: UInt64
    package let kind: Kind
    /// The peer's address, or `nil` for a Unix socket.
    package let address: IPAddress?
    package let facts: ConnectionFacts
    /// The number of bytes that wait because the peer hasn't taken them.
    package let unsentBytes: Int
}

/// Information about a connection from its handler.
package struct ConnectionFacts: Sendable {
    /// The connection's purpose, in one word.
    package var purpose: String?
    /// The owner's name, as the client gave it.
    package var owner: String?
    /// The room that the connection is in.
    package var place: String?
    /// The owner's identity in that room, such as a task.
    package var role: String?

    package init(_ purpose: String? = nil, owner: String? = nil, place: String? = nil, role: String? = nil) {
        self.purpose = purpose
        self.owner = owner
        self.place = place
        self.role = role
    }
}
