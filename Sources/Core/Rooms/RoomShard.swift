import Basics
package import FoundationEssentials

/// The rooms of one event loop, and the parts of other loops' rooms that have connections on it. Must be used on that
/// loop.
///
/// ```
/// enter ──► connection in the map ──► leave
///               │ cheer: counted ───── end of the turn: each member is sent the ales it is owed
///               └ publish: at once, after the ales before it
/// ```
package final class RoomShard {
    private(set) var map = ConnectionMap()
    var openRooms: OpenRooms
    /// The rooms with ales in this turn.
    var cheering: CheeringRooms
    var awaitsTurnEnd = false
    /// Reports entries and departures of matches' rooms.
    var reporter: PresenceReporter
    var people: People
    var sharedMembers = SharedMembers()
    var roomTasks = RoomTasks()
    /// The watchers of each room's presence.
    var boards: [UUID: PresenceBoard] = [:]
    /// The exchange with other daemons.
    var link = RoomLink(report: nil)
    /// The exchange with other loops.
    var queues: LoopQueues
    /// The number of rooms with members, and the number of their connections. Subscriptions don't count.
    private var occupied = 0
    private var connectionCount = 0

    unowned let loop: any RoomLoop

    /// - Parameters:
    /// - loop: Outlives the shard.
    /// - aleFrames: A WebSocket frame for each kind.
    /// - grace: How long a person who left counts as present.
    /// - queues: The queues to the loops that share the rooms.
    init(
        on loop: any RoomLoop, _ openRooms: OpenRooms, aleFrames: [[UInt8]], grace: Duration = .zero,
        queues: LoopQueues = LoopQueues(.one), reporter: PresenceReporter
    ) {
        self.loop = loop
        self.openRooms = openRooms
        cheering = CheeringRooms(frames: aleFrames)
        people = People(grace: grace)
        self.queues = queues
        self.reporter = reporter
    }

    /// The number of matches' rooms with members, and the number of these members.
    package var occupancy: (rooms: Int, connections: Int) { (occupied, connectionCount) }

    // MARK: Open and closed

    package func open(_ rooms: [UUID]) {
        openRooms.open(rooms)
    }

    /// Closes rooms. Their members receive the ales they are owed, and then ``RoomPeer/roomClosed()``.
    package func close(_ rooms: [UUID]) {
        for id in rooms {
            openRooms.close(id)
            roomTasks.remove(id)
            let hadDeparted = people.removeDeparted(of: id)
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
                _ = people.removeIdentity(of: member)
                sharedMembers.remove(member)
                member.peer.roomClosed()
            }
        }
    }

    // MARK: Coming and going

    /// Adds a peer to the room if the room is open and not full. ``Connection/isMember`` says whether it was added.
    /// From then on the peer receives the room's messages.
    ///
    /// - Parameters:
    ///   - claimedIdentity: The identity that the peer claims. Not verified.
    ///   - siblings: The members that the peer's sender already has in the room.
    package func enter(
        _ id: UUID, _ peer: any RoomPeer, policy: RoomPolicy, claimedIdentity: UUID? = nil,
        besides siblings: [Connection] = []
    ) -> Connection {
        let elsewhere = policy.presence == .unreported ? 0 : connectionsElsewhere(in: id)
        let found = map.find(id, policy.presence, isShared: elsewhere > 0)
        let (room, others) = (found.room, found.count)
        let connection = Connection(peer, in: room, on: self)
        guard openRooms.contains(id, policy),
            case .open = capacityDecision(in: id, others, policy: policy, for: claimedIdentity, besides: siblings)
        else { return connection }
        map.join(connection, in: found)
        guard room.presence != .unreported else { return connection }
        if let sibling = siblings.first { sharedMembers.add(connection, besides: sibling) }
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
        guard let others = map.leave(connection), connection.room.presence != .unreported else { return }
        sharedMembers.remove(connection)
        let (room, person) = (connection.room.id, endPresence(of: connection))
        if connection.room.presence == .reported {
            if others == 0 { occupied -= 1 }
            connectionCount -= 1
            note(.left, room: room, person, peers: others + connectionsElsewhere(in: room))
        }
        if others == 0 { people.roomIsEmpty(room) }
        membersChanged(in: room, connection.room.presence)
    }

    /// Returns the connections of a room on this loop, in no particular order.
    package func connections(of room: UUID) -> [Connection] {
        map.connections(of: room)
    }
}
