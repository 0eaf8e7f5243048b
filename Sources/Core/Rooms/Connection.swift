package import FoundationEssentials
package import Sockets

/// One peer's place in one room. A peer that listens to several rooms has several. On the loop of the room's part.
package final class Connection {
    package let room: Room
    /// Who gets what the room is told.
    package let peer: any RoomPeer
    /// Where the room is; lives as long as its loop serves.
    private unowned let shard: RoomShard
    /// See ``place``. An optional would take four bytes more, of each of a hundred thousand.
    private var index = UInt32.max
    /// Ales of this turn that are not for this peer.
    var exempt = AleCount()

    init(_ peer: any RoomPeer, in room: Room, on shard: RoomShard) {
        self.peer = peer
        self.room = room
        self.shard = shard
    }

    /// The index in the room's array; nil when it isn't in the room, or not any more. ``ConnectionMap``'s to set.
    var place: UInt32? {
        get { index == .max ? nil : index }
        set { index = newValue ?? .max }
    }

    /// Whether it is in its room. False from the beginning if it wasn't let in.
    package var isMember: Bool { index != .max }

    /// Which of those whom the room is for it has said it is.
    package var claimedIdentity: UUID? { shard.claimedIdentity(of: self) }

    /// An ale for everybody in the room but this peer, at the end of this turn. Of who isn't in its room, nothing comes.
    package func cheer(_ kind: CheerKind = .plain) {
        shard.cheer(kind, from: self)
    }

    /// Has the peer told how many people are in the room, now and when that changes: a ``PresenceCount``, once a second at most.
    package func watchPresence() {
        shard.watchPresence(self)
    }

    /// Does nothing for who isn't in its room, or not any more: who is in a room that closes doesn't leave it.
    package func leave() {
        shard.leave(self)
    }
}

/// Whoever can be in rooms: a WebSocket, an event stream, a test's recorder. All calls come on the loop.
package protocol RoomPeer: AnyObject {
    /// Ales of a kind came, so many in this turn; `frame` is one of them as a WebSocket frame, the loop's own.
    ///
    /// The one call that is made per delivered ale: it may neither allocate nor wait.
    func deliver(ales count: Int, of kind: CheerKind, frame: SharedBytes)

    /// Something else was published in a room that the peer is in.
    func deliver(_ publication: Publication)

    /// The room's time is over; the peer isn't in it any more.
    func roomClosed()
}

/// A peer of subscriptions and companies, in which nobody cheers, and which don't close.
package protocol RoomListener: RoomPeer {}

extension RoomListener {
    package func deliver(ales count: Int, of kind: CheerKind, frame: SharedBytes) {}
    package func roomClosed() {}
}

/// What can be published in a room besides ales. What it means is known to those who publish and to their peers: the rooms don't look
/// inside.
package protocol Message: Sendable {}

/// A message on its way to the peers of one loop.
package final class Publication {
    package let message: any Message
    private var forms: [ObjectIdentifier: Any] = [:]

    init(_ message: any Message) {
        self.message = message
    }

    /// The message as peers of one kind send it, made by the first of them and shared by all.
    package func form<Form>(_ type: Form.Type = Form.self, make: () -> Form) -> Form {
        if let form = forms[ObjectIdentifier(type)] as? Form { return form }
        let form = make()
        forms[ObjectIdentifier(type)] = form
        return form
    }
}
