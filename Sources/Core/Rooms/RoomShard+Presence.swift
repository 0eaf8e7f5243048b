import Basics
import FoundationEssentials

/// How many people are in a room, and whether one's partner is, told to who asks.
extension RoomShard {
    /// See ``Connection/claimedIdentity``.
    func claimedIdentity(of connection: Connection) -> UUID? {
        people.person(of: connection)
    }

    /// See ``Connection/watchPresence()``.
    func watchPresence(_ connection: Connection) {
        guard connection.isMember else { return }
        guard connection.room.presence != .counted else {
            // Together with all others, who are to hear that it came: in a hall one count for each newcomer would be too many.
            boards[connection.room.id, default: PresenceBoard()].add(connection, told: nil)
            return presenceChanged(in: connection.room.id)
        }
        let presence = presence(in: view(of: connection.room.id), for: connection)
        boards[connection.room.id, default: PresenceBoard()].add(connection, told: presence)
        connection.peer.deliver(Publication(presence))
    }

    /// Somebody came to a room or left it, here or elsewhere; in a turn of the loop.
    func membersChanged(in room: UUID, _ kind: RoomPolicy.Presence) {
        if kind != .counted {
            link.changed(room)
            if link.hasNews { awaitTurnEnd() }
        } else if link.hallChanged(room) {
            loop.call(after: RoomLink.hallInterval) { [weak self] in
                guard let self else { return }
                link.hallGathered(room)
                if link.hasNews { awaitTurnEnd() }
            }
        }
        presenceChanged(in: room)
    }

    private func presenceChanged(in room: UUID) {
        guard !boards.isEmpty, let delay = boards[room]?.changed(at: loop.now) else { return }
        loop.call(after: delay) { [weak self] in self?.tellPresence(in: room) }
    }

    private func tellPresence(in room: UUID) {
        guard boards[room] != nil else { return }
        var told: [(Connection, PresenceCount)] = []
        if map.connections(of: room).first?.room.presence == .counted {
            let count = PresenceCount(headcount(of: room))
            told = boards[room]?.tell(at: loop.now, isPaced: true) { _ in count } ?? []
        } else {
            let view = view(of: room)
            told = boards[room]?.tell(at: loop.now, isPaced: false) { presence(in: view, for: $0) } ?? []
        }
        var publications: [PresenceCount: Publication] = [:]
        for (watcher, presence) in told where watcher.isMember {
            let publication = publications[presence] ?? Publication(presence)
            publications[presence] = publication
            watcher.peer.deliver(publication)
        }
    }

    private func presence(in view: RoomView, for connection: Connection) -> PresenceCount {
        switch connection.room.presence {
        case .named: view.company
        case .counted: PresenceCount(view.headcount)
        case .reported, .untold: view.presence(for: people.person(of: connection))
        }
    }

    private func headcount(of room: UUID) -> Int {
        var members = people.members(of: room, map.connections(of: room))
        if let elsewhere = link.members(of: room) { members.add(elsewhere) }
        return members.headcount
    }

    private func view(of room: UUID) -> RoomView {
        people.view(of: room, map.connections(of: room), elsewhere: link.members(of: room) ?? RoomMembers())
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
            for (room, kind) in people.expire(at: loop.now) {
                if map.count(of: room) == 0 { people.roomIsEmpty(room) }
                membersChanged(in: room, kind)
            }
            awaitExpiry()
        }
    }
}

/// What other daemons are told of this loop's rooms, and tell of them.
extension RoomShard {
    func connectionsElsewhere(in room: UUID) -> Int {
        link.members(of: room)?.connections ?? 0
    }

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
