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

    /// What a connection that is about to join has to share with the others, and how many they are.
    func room(_ id: UUID) -> (room: Room, count: Int) {
        guard let members = rooms[id], let first = members.first else { return (Room(id: id), 0) }
        return (first.room, members.count)
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
        // The room is looked up once for all that follows.
        guard let room = rooms.index(forKey: connection.room.id), let last = rooms.values[room].popLast() else {
            return
        }
        if last !== connection {
            rooms.values[room][Int(place)] = last
            last.place = place
        }
        if rooms.values[room].isEmpty { rooms.remove(at: room) }
    }

    /// Sends the room's ales of this turn to everybody but their senders. O(members), which is the point.
    func deliver(_ frame: SharedBytes, in room: Room) {
        let ales = room.ales
        room.ales = 0
        // A room that was left by everybody and entered anew meanwhile is another one.
        guard ales > 0, let members = rooms[room.id], members.first?.room === room else { return }
        members.withUnsafeBufferPointer { members in
            for index in members.indices {
                // The array holds its members as long as this takes, so nobody has to count it.
                Unmanaged.passUnretained(members[index])._withUnsafeGuaranteedRef { member in
                    let owed = ales - member.exemptAles
                    member.exemptAles = 0
                    if owed > 0 { member.webSocket.send(frame: frame, times: Int(owed)) }
                }
            }
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
