import FoundationEssentials
import Server
import Sockets

/// Who is in which room, on one event loop.
///
/// A room lives on exactly one loop, so the map needs no lock and a broadcast never leaves its thread. Joining and
/// leaving are O(1), whatever the room's size: a connection knows its place, and the last one of the room fills a gap.
struct RoomMap {
    private var rooms: [UUID: [Connection]] = [:]
    /// Connections in all rooms.
    private(set) var connectionCount = 0

    /// Rooms with somebody in them.
    var roomCount: Int { rooms.count }

    func count(of room: UUID) -> Int {
        rooms[room]?.count ?? 0
    }

    mutating func join(_ connection: Connection) {
        connection.place = rooms[connection.room]?.count ?? 0
        rooms[connection.room, default: []].append(connection)
        connectionCount += 1
    }

    /// Takes a connection out; does nothing if it is in no room.
    mutating func leave(_ connection: Connection) {
        guard let place = connection.place else { return }
        connection.place = nil
        connectionCount -= 1
        guard let last = rooms[connection.room]?.popLast() else { return }
        if last !== connection {
            rooms[connection.room]?[place] = last
            last.place = place
        }
        if rooms[connection.room]?.isEmpty == true { rooms[connection.room] = nil }
    }

    /// Sends a frame to everybody in the sender's room but the sender. O(members), which is the point.
    func broadcast(_ frame: SharedBytes, from sender: Connection) {
        guard let members = rooms[sender.room] else { return }
        for index in members.indices where index != sender.place {
            members[index].webSocket.send(frame: frame)
        }
    }

    /// Empties a room and gives back who was in it.
    mutating func removeRoom(_ room: UUID) -> [Connection] {
        guard let members = rooms.removeValue(forKey: room) else { return [] }
        connectionCount -= members.count
        for member in members { member.place = nil }
        return members
    }
}
