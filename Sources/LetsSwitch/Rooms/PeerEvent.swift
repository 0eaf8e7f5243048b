package import FoundationEssentials
package import Sockets

/// Somebody came into a room, or left it before its end.
package struct PeerEvent: Sendable, Hashable {
    /// Those of one moment are told together.
    static let delay = Duration.milliseconds(100)

    package enum Kind: String, Sendable, Hashable {
        case joined = "room.joined"
        case left = "room.left"
    }

    package let kind: Kind
    package let room: UUID
    /// The task that the peer has given as its own; not checked yet.
    package let task: UUID?
    /// How many are in the room now, on this daemon.
    package let peers: Int
    package let at: MonotonicTime

    package init(_ kind: Kind, room: UUID, task: UUID?, peers: Int, at: MonotonicTime) {
        self.kind = kind
        self.room = room
        self.task = task
        self.peers = peers
        self.at = at
    }
}
