import FoundationEssentials
import Sockets

/// The registry of one event loop: all rooms and their connections.
///
/// The map needs no lock, because a broadcast stays on the loop's thread. Joining and leaving are O(1), whatever the
/// room's size: a connection knows its index, and the room's last connection fills a gap.
struct ConnectionMap {
    private var rooms: [UUID: [Connection]] = [:]

    func count(of room: UUID) -> Int {
        rooms[room]?.count ?? 0
    }

    /// Returns the connections of a room in no particular order. The array doesn't change if connections leave while
    /// the caller iterates over it.
    func connections(of room: UUID) -> [Connection] {
        rooms[room] ?? []
    }

    /// The rooms that have members and report presence.
    var roomsWithPresence: [UUID] {
        rooms.compactMap { id, members in members.first.map { $0.room.presence != .unreported } == true ? id : nil }
    }

    /// Calls `body` for all connections in rooms with this kind of presence.
    func forEach(_ presence: RoomPolicy.Presence, _ body: (Connection) -> Void) {
        for members in rooms.values where members.first?.room.presence == presence { members.forEach(body) }
    }

    /// A room for a connection that is about to join. It is valid until the next change of the room.
    struct Found {
        /// The room object, shared by its connections.
        let room: Room
        /// The number of the other connections.
        let count: Int
        fileprivate let index: [UUID: [Connection]].Index?
    }

    /// Returns the room, or makes it.
    ///
    /// - Parameters:
    /// - presence, isShared: Used for a new room.
    func find(_ id: UUID, _ presence: RoomPolicy.Presence, isShared: Bool) -> Found {
        guard let index = rooms.index(forKey: id), let first = rooms.values[index].first else {
            return Found(room: Room(id: id, presence: presence, isShared: isShared), count: 0, index: nil)
        }
        return Found(room: first.room, count: rooms.values[index].count, index: index)
    }

    /// - Parameter found: The connection's room, so that it isn't looked up again.
    mutating func join(_ connection: Connection, in found: Found) {
        connection.room.exempt(connection)
        connection.position = UInt32(found.count)
        if let index = found.index {
            rooms.values[index].append(connection)
        } else {
            rooms[connection.room.id] = [connection]
        }
    }

    /// Removes a connection. Does nothing if it is in no room.
    ///
    /// - Returns: The number of remaining connections; nil if it was in no room.
    mutating func leave(_ connection: Connection) -> Int? {
        guard let position = connection.position else { return nil }
        connection.position = nil
        // Looks the room up once for everything that follows.
        guard let room = rooms.index(forKey: connection.room.id), let last = rooms.values[room].popLast() else {
            return 0
        }
        if last !== connection {
            rooms.values[room][Int(position)] = last
            last.position = position
        }
        let count = rooms.values[room].count
        if count == 0 { rooms.remove(at: room) }
        return count
    }

    /// Sends the room's ales of this turn to all members except their senders.
    func deliverAles(of room: Room, frames: [SharedBytes]) {
        guard room.hasAles else { return }
        // If all members have left during this turn and others have entered, the id belongs to a new room.
        guard let members = rooms[room.id], members.first?.room === room else { return room.removeAles() }
        members.withUnsafeBufferPointer { room.settle(with: $0, frames: frames) }
    }

    /// Removes a room and returns its connections.
    mutating func removeRoom(_ room: UUID) -> [Connection] {
        guard let members = rooms.removeValue(forKey: room) else { return [] }
        for member in members { member.position = nil }
        return members
    }
}
