package import Basics
package import FoundationEssentials
package import Sockets

/// What the rooms need of the loop that they are on: an event loop's reactor, or a test's clock.
package protocol RoomLoop: AnyObject {
    var now: MonotonicTime { get }
    /// Has ``TurnEndHandler/turnEnds()`` called once at the end of this turn.
    func callAtEndOfTurn(_ handler: any TurnEndHandler)
    /// Calls `action` once, on the loop.
    func call(after delay: Duration, _ action: @escaping () -> Void)
}

extension Reactor: RoomLoop {
    package func call(after delay: Duration, _ action: @escaping () -> Void) {
        schedule(after: delay, action)
    }
}

/// The rooms of one event loop, and the parts of others' rooms that have connections on it. On that loop.
///
/// ```
/// enter ──► connection in the map ──► leave
///               │ cheer: counted ───── end of the turn: each is sent what it is owed
///               └ publish: at once, after the ales that came before it
/// ```
package final class RoomShard: TurnEndHandler {
    /// Rooms that are open, besides those that `anyRoomIsOpen` makes of any UUID.
    private var open: Set<UUID> = []
    private(set) var map = ConnectionMap()
    /// Rooms with ales in this turn.
    private var cheering: [Room] = []
    private var refusals = RefusalCache()
    private var presence = PresenceReporter()
    /// The last one, see ``callRoll(_:)``.
    private var rollCall: UInt32 = 0
    var people: People
    /// Of rooms in which somebody wants to know how many are there.
    var boards: [UUID: PresenceBoard] = [:]
    /// The other daemons.
    var link = RoomLink(tell: nil)
    /// The other loops.
    var lanes: Lanes
    /// Rooms with somebody in them and the connections in them, but for subscriptions.
    private var occupied = 0
    private var connectionCount = 0
    private var awaitsTurnEnd = false

    unowned let loop: any RoomLoop
    private let anyRoomIsOpen: Bool
    private let report: @Sendable ([PresenceEvent]) -> Void
    /// An ale of each kind, encoded once; no other thread counts its references. A burst of ales leaves as one run of it. Whoever reads
    /// isn't cut off because many are said at once: it misses some.
    let aleFrames: [SharedBytes]

    /// - Parameters:
    ///   - loop: Outlives the shard.
    ///   - anyRoomIsOpen: Makes an open room of any UUID.
    ///   - aleFrames: A WebSocket frame for each kind.
    ///   - grace: How long somebody who has left counts as present.
    ///   - loops: This one and those that it shares the rooms with.
    ///   - report: Told who comes and goes, many at a time.
    package init(
        on loop: any RoomLoop, anyRoomIsOpen: Bool, aleFrames: [[UInt8]], grace: Duration = .zero,
        loops: RoomLoops = .one, report: @escaping @Sendable ([PresenceEvent]) -> Void
    ) {
        self.loop = loop
        self.anyRoomIsOpen = anyRoomIsOpen
        self.aleFrames = aleFrames.map { SharedBytes($0, copies: 64, mayBeLeftOut: true) }
        self.report = report
        people = People(grace: grace)
        lanes = Lanes(loops)
    }

    /// Matches' rooms with somebody in them, and how many are in them.
    package var occupancy: (rooms: Int, connections: Int) { (occupied, connectionCount) }
    package var openCount: Int { open.count }

    // MARK: Open and closed

    package func open(_ rooms: [UUID]) {
        for room in rooms {
            open.insert(room)
            refusals.remove(room)
        }
    }

    /// The rooms' time is over: who is in them gets what is owed, and is told so.
    package func close(_ rooms: [UUID]) {
        for id in rooms {
            open.remove(id)
            let hadDeparted = people.forgetDeparted(of: id)
            guard let room = map.connections(of: id).first?.room else {
                if hadDeparted { membersChanged(in: id, .reported) }
                continue
            }
            settle(room)
            let members = map.removeRoom(id)
            boards[id] = nil
            if room.presence == .reported {
                occupied -= 1
                connectionCount -= members.count
                membersChanged(in: id, .reported)
            }
            for member in members {
                _ = people.forget(member)
                member.peer.roomClosed()
            }
        }
    }

    // MARK: Admission

    package enum EntryDecision: Sendable {
        case open
        case full
        /// As the database said so long ago.
        case refused(RoomState, age: Duration)
        /// The database has to be asked.
        case unknown
    }

    package func decision(of room: UUID, policy: RoomPolicy) -> EntryDecision {
        guard isOpen(room, policy) else {
            return refusals.refusal(of: room, at: loop.now).map { .refused($0.state, age: $0.age) } ?? .unknown
        }
        return map.count(of: room) + connectionsElsewhere(in: room) < policy.capacity ? .open : .full
    }

    private func connectionsElsewhere(in room: UUID) -> Int {
        link.members(of: room)?.connections ?? 0
    }

    private func isOpen(_ room: UUID, _ policy: RoomPolicy) -> Bool {
        !policy.mustBeOpen || anyRoomIsOpen || open.contains(room)
    }

    /// Remembers for a moment what the database said of a room that nobody can enter.
    package func remember(_ state: RoomState, of room: UUID) {
        refusals.insert(state, of: room, at: loop.now)
    }

    // MARK: Coming and going

    /// Lets a peer in, if the room is open and has a place: ``Connection/isMember`` tells. It is told what comes from now on.
    ///
    /// - Parameter claimedIdentity: Which of those whom the room is for the peer says it is; not checked here.
    package func enter(
        _ id: UUID, _ peer: any RoomPeer, policy: RoomPolicy, claimedIdentity: UUID? = nil
    ) -> Connection {
        let elsewhere = policy.presence == .untold ? 0 : connectionsElsewhere(in: id)
        let found = map.find(id, make: Room(id: id, presence: policy.presence, isShared: elsewhere > 0))
        let (room, others) = (found.room, found.count)
        let connection = Connection(peer, in: room, on: self)
        guard isOpen(id, policy), others + elsewhere < policy.capacity else { return connection }
        map.join(connection, in: found)
        guard room.presence != .untold else { return connection }
        if let claimedIdentity { people.enter(connection, as: claimedIdentity) }
        if room.presence == .reported {
            if others == 0 { occupied += 1 }
            connectionCount += 1
            note(.joined, room: id, claimedIdentity, peers: others + 1 + elsewhere)
        }
        membersChanged(in: id, room.presence)
        return connection
    }

    /// See ``Connection/leave()``.
    func leave(_ connection: Connection) {
        guard let others = map.leave(connection), connection.room.presence != .untold else { return }
        let (room, person) = (connection.room.id, endPresence(of: connection))
        if connection.room.presence == .reported {
            if others == 0 { occupied -= 1 }
            connectionCount -= 1
            note(.left, room: room, person, peers: others + connectionsElsewhere(in: room))
        }
        if others == 0 { people.roomIsEmpty(room) }
        membersChanged(in: room, connection.room.presence)
    }

    private func note(_ kind: PresenceEvent.Kind, room: UUID, _ claimedIdentity: UUID?, peers: Int) {
        let event = PresenceEvent(
            kind, room: room, claimedIdentity: claimedIdentity, peers: peers, at: loop.now, rollCall: rollCall)
        switch presence.add(event) {
        case .wait: break
        case .startTimer: loop.call(after: PresenceReporter.delay) { [weak self] in self?.reportPresence() }
        case .report: reportPresence()
        }
    }

    private func reportPresence() {
        let events = presence.takeAll()
        if !events.isEmpty { report(events) }
    }

    /// Who came and went and was not told of yet: for a daemon that stops.
    package func takePresenceEvents() -> [PresenceEvent] {
        presence.takeAll()
    }

    /// Who is in matches' rooms on this loop, and how many connections that is of each. What came before is reported by the time that this
    /// returns, and what comes after it bears the number.
    package func callRoll(_ number: UInt32) -> [Attendee: Int] {
        reportPresence()
        rollCall = number
        var attendees: [Attendee: Int] = [:]
        map.forEach(.reported) { connection in
            attendees[
                Attendee(room: connection.room.id, claimedIdentity: people.person(of: connection)), default: 0] += 1
        }
        return attendees
    }

    /// Who is in a room, on this loop, in no order.
    package func connections(of room: UUID) -> [Connection] {
        map.connections(of: room)
    }

    // MARK: Messages

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
        cheering.append(room)
    }

    func awaitTurnEnd() {
        guard !awaitsTurnEnd else { return }
        awaitsTurnEnd = true
        loop.callAtEndOfTurn(self)
    }

    package func turnEnds() {
        let hasMembersElsewhere = !lanes.all.isEmpty
        if hasMembersElsewhere { takeOwnRequests() }
        for room in cheering { settle(room) }
        cheering.removeAll(keepingCapacity: true)
        // Who is told something now may ask for something, which is done at the end of another turn.
        awaitsTurnEnd = false
        if hasMembersElsewhere { carryMail() }
        link.tellNews { people.members(of: $0, map.connections(of: $0)) }
    }

    /// Sends everybody in the room what it is owed, and has other daemons told.
    private func settle(_ room: Room) {
        if room.isShared { room.forEachKind { link.add(RoomNews.Ales(room.id, $0, $1)) } }
        map.deliverAles(of: room, frames: aleFrames)
    }

    /// Ales that came from another daemon: for everybody in the room here.
    package func deliver(_ ales: [RoomNews.Ales]) {
        for ales in ales {
            guard let room = map.connections(of: ales.room).first?.room else { continue }
            // First those of its own members, so that no ale of another daemon is told to other daemons.
            settle(room)
            room.count(alesFromElsewhere: ales.count, of: ales.kind)
            map.deliverAles(of: room, frames: aleFrames)
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
}
