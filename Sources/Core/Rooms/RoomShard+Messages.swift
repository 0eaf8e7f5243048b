package import FoundationEssentials
import Sockets

/// The rooms of one loop with ales in this turn.
struct CheeringRooms {
    private(set) var rooms: [Room] = []
    /// An ale of each kind, encoded once; no other thread counts its references. A burst of ales leaves as one run of it. Whoever reads
    /// isn't cut off because many are said at once: it misses some.
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

/// What is said in the rooms of one loop: ales at the end of the turn, everything else at once, behind the ales that came before it.
extension RoomShard: TurnEndHandler {
    /// See ``Connection/cheer()``.
    func cheer(_ kind: CheerKind, from sender: Connection) {
        guard sender.isMember else { return }
        let room = sender.room
        if !room.hasAles { willSettle(room) }
        room.count(aleFrom: sender, of: kind)
    }

    /// As ``cheer(_:from:)``, of a sender with several places in its room: none of them hears it.
    func cheer(_ count: UInt32, of kind: CheerKind, from sender: Connection, besides places: [Connection]) {
        guard sender.isMember else { return }
        if !sender.room.hasAles { willSettle(sender.room) }
        sender.room.count(count, of: kind, exempting: places)
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
        let hasMembersElsewhere = !lanes.all.isEmpty
        if hasMembersElsewhere { takeOwnRequests() }
        for room in cheering.rooms { settle(room) }
        cheering.removeAll()
        // Who is told something now may ask for something, which is done at the end of another turn.
        awaitsTurnEnd = false
        if hasMembersElsewhere { carryMail() }
        link.tellNews { people.members(of: $0, map.connections(of: $0)) }
    }

    /// Sends everybody in the room what it is owed, and has other daemons told.
    func settle(_ room: Room) {
        if room.isShared { room.forEachKind { link.add(RoomNews.Ales(room.id, $0, $1)) } }
        map.deliverAles(of: room, frames: cheering.frames)
    }

    /// Ales that came from another daemon: for everybody in the room here.
    package func deliver(_ ales: [RoomNews.Ales]) {
        for ales in ales {
            guard let room = map.connections(of: ales.room).first?.room else { continue }
            // First those of its own members, so that no ale of another daemon is told to other daemons.
            settle(room)
            room.count(alesFromElsewhere: ales.count, of: ales.kind)
            map.deliverAles(of: room, frames: cheering.frames)
        }
    }

    /// Gives a message to everybody in the room on this loop but its sender, in the order of these calls and of the ales between them.
    /// Who leaves meanwhile gets nothing, and who comes meanwhile neither.
    package func publish(_ message: any Message, to id: UUID, from sender: Connection? = nil) {
        publish(message, to: id) { $0 === sender }
    }

    /// As ``publish(_:to:from:)``, to all that aren't the sender's.
    func publish(_ message: any Message, to id: UUID, isSender: (Connection) -> Bool) {
        let members = map.connections(of: id)
        guard let room = members.first?.room else { return }
        settle(room)
        let publication = Publication(message)
        for member in members where !isSender(member) && member.isMember { member.peer.deliver(publication) }
    }

    /// Gives a message to those on this loop who say that they are one of these people, in whatever match's room: in a moment, since all
    /// who are there are looked at, for many such messages at once.
    package func publish(_ message: any Message, toPeople named: Set<UUID>) {
        guard !people.isEmpty else { return }
        if people.untold.isEmpty { loop.call(after: People.untoldDelay) { [weak self] in self?.tellPeople() } }
        for person in named { people.untold[person] = message }
    }

    private func tellPeople() {
        let messages = people.untold
        people.untold = [:]
        var found: [(Connection, any Message)] = []
        map.forEach(.reported) { member in
            guard let person = people.person(of: member), let message = messages[person] else { return }
            found.append((member, message))
        }
        // They may leave for it.
        for (member, message) in found where member.isMember {
            settle(member.room)
            member.peer.deliver(Publication(message))
        }
    }
}
