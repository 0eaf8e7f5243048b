package import FoundationEssentials
package import Sockets

/// The membership of one peer in one room. A peer in several rooms has several connections. Must be used on the loop
/// that has the connection.
package final class Connection {
    package let room: Room
    /// The peer that receives the room's ales and messages.
    package let peer: any RoomPeer
    /// The shard that owns the room. It lives as long as its loop.
    private unowned let shard: RoomShard
    /// The value of ``position``. An optional would need four more bytes for each of a hundred thousand connections.
    private var index = UInt32.max
    /// The ales of this turn that this peer must not receive.
    var exempt = AleCount()

    init(_ peer: any RoomPeer, in room: Room, on shard: RoomShard) {
        self.peer = peer
        self.room = room
        self.shard = shard
    }

    /// The index in the room's array; nil before the connection joins and after it leaves. Only ``ConnectionMap`` sets
    /// it.
    var position: UInt32? {
        get { index == .max ? nil : index }
        set { index = newValue ?? .max }
    }

    /// Whether the connection is in its room. `false` if the room refused it.
    package var isMember: Bool { index != .max }

    /// The identity that the peer claims, such as a task of the match. Not verified.
    package var claimedIdentity: UUID? { shard.claimedIdentity(of: self) }

    /// Sends an ale to all other members of the room at the end of this turn. Does nothing if the connection isn't in
    /// its room.
    package func cheer(_ kind: CheerKind = .plain) {
        shard.cheer(kind, from: self)
    }

    /// Sends the peer the number of people in the room, now and after each change, at most once a second. The message
    /// is a ``PresenceCount``.
    package func watchPresence() {
        shard.watchPresence(self)
    }

    /// Leaves the room. Does nothing if the connection isn't in its room. A closing room removes its connections
    /// itself.
    package func leave() {
        shard.leave(self)
    }
}

/// A possible member of rooms: a WebSocket, an event stream, a test's recorder. All calls come on the loop.
package protocol RoomPeer: AnyObject {
    /// Sends `count` ales of a kind. `frame` is one of them as a WebSocket frame, owned by the loop.
    ///
    /// This call is made for each delivered ale: it may neither allocate nor wait.
    func deliver(ales count: Int, of kind: CheerKind, frame: SharedBytes)

    /// Sends a message, other than an ale, that was published in one of the peer's rooms.
    func deliver(_ publication: Publication)

    /// Reports that the room has closed. The peer is no longer in it.
    func roomClosed()
}

/// A peer that receives no ales and whose rooms don't close, such as a subscription.
package protocol RoomListener: RoomPeer {}

extension RoomListener {
    package func deliver(ales count: Int, of kind: CheerKind, frame: SharedBytes) {}
    package func roomClosed() {}
}

/// A message, other than an ale, that can be published in a room. Only publishers and peers know its content.
package protocol Message: Sendable {}

/// A message to the peers of one loop.
package final class Publication {
    package let message: any Message
    private var forms: [ObjectIdentifier: Any] = [:]

    init(_ message: any Message) {
        self.message = message
    }

    /// Returns the message in the form of one kind of peer. The first peer makes the form, and the others share it.
    package func form<Form>(_ type: Form.Type = Form.self, make: () -> Form) -> Form {
        if let form = forms[ObjectIdentifier(type)] as? Form { return form }
        let form = make()
        forms[ObjectIdentifier(type)] = form
        return form
    }
}
