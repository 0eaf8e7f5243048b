import FoundationEssentials
import Sockets

/// Who is in which room, on one event loop: the registry of all that can be listened to.
///
/// No lock, and a broadcast never leaves its thread. Joining and leaving are O(1), whatever the room's size: a connection knows its
/// place, and the last one of the room fills a gap.
struct ConnectionMap {
    private var rooms: [UUID: [Connection]] = [:]

    func count(of room: UUID) -> Int {
        rooms[room]?.count ?? 0
    }

    /// In no order. Holds what it is now, whoever leaves while one looks at it.
    func connections(of room: UUID) -> [Connection] {
        rooms[room] ?? []
    }

    /// Rooms whose coming and going is told, with somebody in them.
    var roomsWithPresence: [UUID] {
        rooms.compactMap { id, members in members.first.map { $0.room.presence != .untold } == true ? id : nil }
    }

    /// All connections in rooms of which so much is made.
    func forEach(_ presence: RoomPolicy.Presence, _ body: (Connection) -> Void) {
        for members in rooms.values where members.first?.room.presence == presence { members.forEach(body) }
    }

    /// A room as a connection finds it that is about to join; it holds until somebody comes or goes.
    struct Found {
        /// What the connection has to share with the others.
        let room: Room
        /// How many the others are.
        let count: Int
        fileprivate let index: [UUID: [Connection]].Index?
    }

    /// - Parameters:
    ///   - presence: Of a room that nobody is in yet; and so is `isShared`.
    func find(_ id: UUID, _ presence: RoomPolicy.Presence, isShared: Bool) -> Found {
        guard let index = rooms.index(forKey: id), let first = rooms.values[index].first else {
            return Found(room: Room(id: id, presence: presence, isShared: isShared), count: 0, index: nil)
        }
        return Found(room: first.room, count: rooms.values[index].count, index: index)
    }

    /// - Parameter found: Its room, which isn't looked up once more.
    mutating func join(_ connection: Connection, in found: Found) {
        connection.room.exempt(connection)
        connection.place = UInt32(found.count)
        if let index = found.index {
            rooms.values[index].append(connection)
        } else {
            rooms[connection.room.id] = [connection]
        }
    }

    /// Takes a connection out; does nothing if it is in no room.
    ///
    /// - Returns: How many are left; nil if it wasn't in.
    mutating func leave(_ connection: Connection) -> Int? {
        guard let place = connection.place else { return nil }
        connection.place = nil
        // The room is looked up once for all that follows.
        guard let room = rooms.index(forKey: connection.room.id), let last = rooms.values[room].popLast() else {
            return 0
        }
        if last !== connection {
            rooms.values[room][Int(place)] = last
            last.place = place
        }
        let count = rooms.values[room].count
        if count == 0 { rooms.remove(at: room) }
        return count
    }

    /// Sends the room's ales of this turn to everybody but their senders.
    func deliverAles(of room: Room, frames: [SharedBytes]) {
        guard room.hasAles else { return }
        // A room that was left by everybody and entered anew meanwhile is another one.
        guard let members = rooms[room.id], members.first?.room === room else { return room.forgetAles() }
        members.withUnsafeBufferPointer { room.settle(with: $0, frames: frames) }
    }

    /// Empties a room and gives back who was in it.
    mutating func removeRoom(_ room: UUID) -> [Connection] {
        guard let members = rooms.removeValue(forKey: room) else { return [] }
        for member in members { member.place = nil }
        return members
    }
}
