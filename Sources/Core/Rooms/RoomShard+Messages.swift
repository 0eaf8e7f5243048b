package import FoundationEssentials
import Sockets

/// The rooms of one loop with ales in this turn.
struct CheeringRooms {
    private(set) var rooms: [Room] = []
    /// The frame of each kind of ale, encoded once. No other thread changes its reference count. A burst of ales is
    /// sent as one run of copies of the frame. A slow reader misses ales and isn't disconnected.
    let frames: [SharedBytes]

    init(frames: [[UInt8]]) {
        self.frames = frames.map { SharedBytes($0, copies: 64, mayBeLeftOut: true) }
    }

    mutating func add(_ room: Room) {
        rooms.append(room)
    }

    mutating func removeAll() {
        rooms.removeAll(keepingCapacity: true)
    }
}

/// The messages in one loop's rooms. Ales are sent at the end of the turn. Other messages are sent immediately, after
/// the earlier ales.
extension RoomShard: TurnEndHandler {
    /// See ``Connection/cheer()``.
    func cheer(_ kind: CheerKind, from sender: Connection) {
        guard sender.isMember else { return }
        let room = sender.room
        if !room.hasAles { willSettle(room) }
        room.count(aleFrom: sender, of: kind)
    }

    /// Counts ales of a sender with several members in its room. None of these members receives the ales.
    func cheer(_ count: UInt32, of kind: CheerKind, from sender: Connection, besides members: [Connection]) {
        guard sender.isMember else { return }
        if !sender.room.hasAles { willSettle(sender.room) }
        sender.room.count(count, of: kind, exempting: members)
    }

    private func willSettle(_ room: Room) {
        awaitTurnEnd()
        cheering.add(room)
    }

    func awaitTurnEnd() {
        guard !awaitsTurnEnd else { return }
        awaitsTurnEnd = true
        loop.callAtEndOfTurn(self)
    }

    package func turnEnds() {
        let hasMembersElsewhere = !queues.all.isEmpty
        if hasMembersElsewhere { takeOwnRequests() }
        for room in cheering.rooms { settle(room) }
        cheering.removeAll()
        // A notified peer may make new requests. Such requests are performed at the end of another turn.
        awaitsTurnEnd = false
        if hasMembersElsewhere { sendBatches() }
        link.reportNews { room in
            var members = people.members(of: room, map.connections(of: room))
            members.connections -= sharedMembers.extraMembers(in: room)
            return members
        }
    }

    /// Sends each member of the room the ales it is owed, and passes the ales to other daemons.
    func settle(_ room: Room) {
        if room.isShared { room.forEachKind { link.add(RoomNews.Ales(room.id, $0, $1)) } }
        map.deliverAles(of: room, frames: cheering.frames)
    }

    /// Delivers another daemon's ales to all members of the rooms here.
    package func deliver(_ ales: [RoomNews.Ales]) {
        for ales in ales {
            guard let room = map.connections(of: ales.room).first?.room else { continue }
            // Settles this daemon's ales first, so that the other daemon's ales aren't sent back to it.
            settle(room)
            room.count(alesFromElsewhere: ales.count, of: ales.kind)
            map.deliverAles(of: room, frames: cheering.frames)
        }
    }

    /// Sends a message to all members of the room on this loop except its sender. Messages and ales keep their order.
    /// Members that enter or leave during the delivery receive nothing.
    package func publish(_ message: any Message, to id: UUID, from sender: Connection? = nil) {
        publish(message, to: id) { $0 === sender }
    }

    /// Sends a message to all members of the room on this loop for which `isSender` returns `false`.
    func publish(_ message: any Message, to id: UUID, isSender: (Connection) -> Bool) {
        let members = map.connections(of: id)
        guard let room = members.first?.room else { return }
        settle(room)
        let publication = Publication(message)
        for member in members where !isSender(member) && member.isMember { member.peer.deliver(publication) }
    }

    /// Sends a message to the members on this loop with one of these identities, in any match's room. The message is
    /// delayed, because finding the members visits all members, and many messages share one search.
    package func publish(_ message: any Message, toPeople named: Set<UUID>) {
        guard !people.isEmpty else { return }
        if people.pendingMessages.isEmpty {
            loop.call(after: People.pendingMessageDelay) { [weak self] in self?.sendPendingMessages() }
        }
        for person in named { people.pendingMessages[person] = message }
    }

    private func sendPendingMessages() {
        let messages = people.pendingMessages
        people.pendingMessages = [:]
        var found: [(Connection, any Message)] = []
        map.forEach(.reported) { member in
            guard let person = people.person(of: member), let message = messages[person] else { return }
            found.append((member, message))
        }
        // An earlier message may have made the member leave.
        for (member, message) in found where member.isMember {
            settle(member.room)
            member.peer.deliver(Publication(message))
        }
    }
}
