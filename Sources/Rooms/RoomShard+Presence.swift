import Basics
import FoundationEssentials

/// How many people are in a room, told to who asks.
extension RoomShard {
    /// See ``Connection/watchPresence()``.
    func watchPresence(_ connection: Connection) {
        guard connection.isMember else { return }
        let count = headcount(of: connection.room.id)
        boards[connection.room.id, default: PresenceBoard()].add(connection, told: count)
        connection.peer.deliver(Publication(PresenceCount(count)))
    }

    /// Somebody came to a room or left it, here or elsewhere; in a turn of the loop.
    func membersChanged(in room: UUID) {
        link.changed(room)
        if link.hasNews { awaitTurnEnd() }
        presenceChanged(in: room)
    }

    private func presenceChanged(in room: UUID) {
        guard !boards.isEmpty, let delay = boards[room]?.changed(at: loop.now) else { return }
        loop.call(after: delay) { [weak self] in self?.tellPresence(in: room) }
    }

    private func tellPresence(in room: UUID) {
        let count = headcount(of: room)
        guard let watchers = boards[room]?.tell(count, at: loop.now) else { return }
        let publication = Publication(PresenceCount(count))
        for watcher in watchers where watcher.isMember { watcher.peer.deliver(publication) }
    }

    private func headcount(of room: UUID) -> Int {
        var members = people.members(of: room, map.connections(of: room))
        if let others = link.members(of: room) { members.add(others) }
        return members.headcount
    }

    /// A connection has left its room.
    ///
    /// - Returns: Who it was, if it had said so.
    func endPresence(of connection: Connection) -> UUID? {
        let room = connection.room.id
        if !boards.isEmpty {
            boards[room]?.remove(connection)
            if boards[room]?.isEmpty == true { boards[room] = nil }
        }
        let wasExpiring = people.nextExpiry != nil
        let person = people.leave(connection, at: loop.now)
        if !wasExpiring { awaitExpiry() }
        return person
    }

    private func awaitExpiry() {
        guard let expiry = people.nextExpiry else { return }
        loop.call(after: max(.zero, expiry - loop.now)) { [weak self] in
            guard let self else { return }
            for room in people.expire(at: loop.now) { membersChanged(in: room) }
            awaitExpiry()
        }
    }
}

/// What other daemons are told of this loop's rooms, and tell of them.
extension RoomShard {
    /// There are other daemons: at the end of this turn they are told who is in which room, and of each turn its news.
    package func join(_ tell: @escaping @Sendable (RoomNews) -> Void) {
        link = RoomLink(tell: tell)
        for room in map.roomsWithPresence { link.changed(room) }
        for room in people.roomsOfDeparted { link.changed(room) }
        if link.hasNews { awaitTurnEnd() }
    }

    /// There are none any more.
    package func part() {
        let rooms = Array(link.rooms)
        link = RoomLink(tell: nil)
        for room in rooms { setElsewhere([MembersOfRoom(room, RoomMembers())]) }
    }

    /// Who is in these rooms on other daemons, all of them together.
    package func setElsewhere(_ rooms: [MembersOfRoom]) {
        for changed in rooms {
            link.set(changed.members, of: changed.room)
            map.connections(of: changed.room).first?.room.isShared = changed.members.connections > 0
            presenceChanged(in: changed.room)
        }
    }
}
