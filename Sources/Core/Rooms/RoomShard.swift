import Basics
package import FoundationEssentials

/// The rooms of one event loop, and the parts of others' rooms that have connections on it. On that loop.
///
/// ```
/// enter ──► connection in the map ──► leave
///               │ cheer: counted ───── end of the turn: each is sent what it is owed
///               └ publish: at once, after the ales that came before it
/// ```
package final class RoomShard {
    private(set) var map = ConnectionMap()
    var openRooms: OpenRooms
    /// Those with ales in this turn.
    var cheering: CheeringRooms
    var awaitsTurnEnd = false
    /// Who came and went in matches' rooms, for the record.
    var reporter: PresenceReporter
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

    unowned let loop: any RoomLoop

    /// - Parameters:
    ///   - loop: Outlives the shard.
    ///   - aleFrames: A WebSocket frame for each kind.
    ///   - grace: How long somebody who has left counts as present.
    ///   - lanes: To the loops that it shares the rooms with.
    init(
        on loop: any RoomLoop, _ openRooms: OpenRooms, aleFrames: [[UInt8]], grace: Duration = .zero,
        lanes: Lanes = Lanes(.one), reporter: PresenceReporter
    ) {
        self.loop = loop
        self.openRooms = openRooms
        cheering = CheeringRooms(frames: aleFrames)
        people = People(grace: grace)
        self.lanes = lanes
        self.reporter = reporter
    }

    /// Matches' rooms with somebody in them, and how many are in them.
    package var occupancy: (rooms: Int, connections: Int) { (occupied, connectionCount) }

    // MARK: Open and closed

    package func open(_ rooms: [UUID]) {
        openRooms.open(rooms)
    }

    /// The rooms' time is over: who is in them gets what is owed, and is told so.
    package func close(_ rooms: [UUID]) {
        for id in rooms {
            openRooms.close(id)
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

    // MARK: Coming and going

    /// Lets a peer in, if the room is open and has a place: ``Connection/isMember`` tells. It is told what comes from now on.
    ///
    /// - Parameter claimedIdentity: Which of those whom the room is for the peer says it is; not checked here.
    package func enter(
        _ id: UUID, _ peer: any RoomPeer, policy: RoomPolicy, claimedIdentity: UUID? = nil
    ) -> Connection {
        let elsewhere = policy.presence == .untold ? 0 : connectionsElsewhere(in: id)
        let found = map.find(id, policy.presence, isShared: elsewhere > 0)
        let (room, others) = (found.room, found.count)
        let connection = Connection(peer, in: room, on: self)
        guard openRooms.contains(id, policy), others + elsewhere < policy.capacity else { return connection }
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

    /// Who is in a room, on this loop, in no order.
    package func connections(of room: UUID) -> [Connection] {
        map.connections(of: room)
    }
}
