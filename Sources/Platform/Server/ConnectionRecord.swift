package import Wire

/// A connection as operators see it: what it is, whose, and from where; nothing of what is said on it.
package struct ConnectionRecord: Sendable {
    package enum Kind: String, Sendable {
        /// It has yet to say for whom it is, or to shake hands.
        case handshake
        case http, stream, websocket
    }

    /// As long as it is open it is the only one with this number; see `StreamSocket.inode`.
    package let id: UInt64
    package let kind: Kind
    /// `nil` for a Unix socket's.
    package let address: IPAddress?
    package let facts: ConnectionFacts
    /// Bytes that wait for the peer to take them.
    package let unsentBytes: Int
}

/// What those who serve a connection say of it.
package struct ConnectionFacts: Sendable {
    /// What it is for, in a word.
    package var purpose: String?
    /// Whose it is, as they name themselves.
    package var owner: String?
    /// Where it is: a room.
    package var place: String?
    /// As whom it is there, by a name that isn't its owner's.
    package var role: String?

    package init(_ purpose: String? = nil, owner: String? = nil, place: String? = nil, role: String? = nil) {
        self.purpose = purpose
        self.owner = owner
        self.place = place
        self.role = role
    }
}
