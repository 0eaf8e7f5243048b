import Basics
import FoundationEssentials

/// The number of people in a room, and the presence of a person's partner, for the members that ask.
extension RoomShard {
    /// See ``Connection/claimedIdentity``.
    func claimedIdentity(of connection: Connection) -> UUID? {
        people.person(of: connection)
    }

    /// See ``Connection/watchPresence()``.
    func watchPresence(_ connection: Connection) {
        guard connection.isMember else { return }
        guard connection.room.presence != .counted else {
            // The new member is notified together with all others. In an audience, one count for each new member would
            // be too many.
            boards[connection.room.id, default: PresenceBoard()].add(connection, sent: nil)
            return presenceChanged(in: connection.room.id)
        }
        let presence = presence(in: view(of: connection.room.id), for: connection)
        boards[connection.room.id, default: PresenceBoard()].add(connection, sent: presence)
        connection.peer.deliver(Publication(presence))
    }

    /// Handles a change of a room's members, on this daemon or on another one. Must be called on the loop. The other
    /// daemons are notified at the end of the loop's turn, when it has served all ready sockets.
    func membersChanged(in room: UUID, _ kind: RoomPolicy.Presence) {
        if kind != .counted {
            link.changed(room)
            if link.hasNews { awaitTurnEnd() }
        } else if link.audienceChanged(room) {
            loop.call(after: RoomLink.audienceInterval) { [weak self] in
                guard let self else { return }
                link.audienceGathered(room)
                if link.hasNews { awaitTurnEnd() }
            }
        }
        presenceChanged(in: room)
    }

    private func presenceChanged(in room: UUID) {
        guard !boards.isEmpty, let delay = boards[room]?.changed(at: loop.now) else { return }
        loop.call(after: delay) { [weak self] in self?.notifyWatchers(in: room) }
    }

    private func notifyWatchers(in room: UUID) {
        guard boards[room] != nil else { return }
        var notifications: [(Connection, PresenceCount)] = []
        if map.connections(of: room).first?.room.presence == .counted {
            let count = PresenceCount(headcount(of: room))
            notifications = boards[room]?.takeNotifications(at: loop.now, isPaced: true) { _ in count } ?? []
        } else {
            let view = view(of: room)
            notifications =
                boards[room]?.takeNotifications(at: loop.now, isPaced: false) { presence(in: view, for: $0) } ?? []
        }
        var publications: [PresenceCount: Publication] = [:]
        for (watcher, presence) in notifications where watcher.isMember {
            let publication = publications[presence] ?? Publication(presence)
            publications[presence] = publication
            watcher.peer.deliver(publication)
        }
    }

    private func presence(in view: RoomView, for connection: Connection) -> PresenceCount {
        switch connection.room.presence {
        case .named: view.namedPresence
        case .counted: PresenceCount(view.headcount)
        case .reported, .unreported: view.presence(for: people.person(of: connection))
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

    /// Handles a connection that has left its room.
    ///
    /// - Returns: The person, if the connection had a name.
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

/// Exchanges ales and the members of this loop's rooms with other daemons.
extension RoomShard {
    func connectionsElsewhere(in room: UUID) -> Int {
        link.members(of: room)?.connections ?? 0
    }

    /// Starts the exchange. The other daemons receive the members of all rooms at the end of this turn, and then the
    /// news of each turn.
    package func join(_ report: @escaping @Sendable (RoomNews) -> Void) {
        link = RoomLink(report: report)
        for room in map.roomsWithPresence { link.changed(room) }
        for room in people.roomsOfDeparted { link.changed(room) }
        if link.hasNews { awaitTurnEnd() }
    }

    /// Ends the exchange, because there are no other daemons.
    package func part() {
        let rooms = Array(link.rooms)
        link = RoomLink(report: nil)
        for room in rooms { setElsewhere([MembersOfRoom(room, RoomMembers())]) }
    }

    /// Stores the members of these rooms on all other daemons together.
    package func setElsewhere(_ rooms: [MembersOfRoom]) {
        for changed in rooms {
            link.set(changed.members, of: changed.room)
            map.connections(of: changed.room).first?.room.isShared = changed.members.connections > 0
            presenceChanged(in: changed.room)
        }
    }
}
