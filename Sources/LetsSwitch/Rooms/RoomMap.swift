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

    /// What a connection that is about to join has to share with the others.
    func room(_ id: UUID) -> Room {
        rooms[id]?.first?.room ?? Room(id: id)
    }

    mutating func join(_ connection: Connection) {
        connection.exemptAles = connection.room.ales
        connection.place = UInt32(Self.append(connection, to: &rooms[connection.room.id, default: []]))
        connectionCount += 1
    }

    /// Returns the place that it has. The room is looked up once for both.
    private static func append(_ connection: Connection, to members: inout [Connection]) -> Int {
        members.append(connection)
        return members.count - 1
    }

    /// Takes a connection out; does nothing if it is in no room.
    mutating func leave(_ connection: Connection) {
        guard let place = connection.place else { return }
        connection.place = nil
        connectionCount -= 1
        let room = connection.room.id
        guard let last = rooms[room]?.popLast() else { return }
        if last !== connection {
            rooms[room]?[Int(place)] = last
            last.place = place
        }
        if rooms[room]?.isEmpty == true { rooms[room] = nil }
    }

    /// Sends the room's ales of this turn to everybody but their senders. O(members), which is the point.
    func deliver(_ frame: SharedBytes, in room: Room) {
        let ales = room.ales
        room.ales = 0
        // A room that was left by everybody and entered anew meanwhile is another one.
        guard ales > 0, let members = rooms[room.id], members.first?.room === room else { return }
        for member in members {
            let owed = ales - member.exemptAles
            member.exemptAles = 0
            if owed > 0 { member.webSocket.send(frame: frame, times: Int(owed)) }
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
