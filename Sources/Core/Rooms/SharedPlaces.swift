import FoundationEssentials

/// The places that a sender's members share. A sender takes one place in a room, however many members it has there.
/// Only senders with several members in one room are stored.
struct SharedPlaces {
    private final class Place {
        var members = 1
    }

    private var places: [ObjectIdentifier: Place] = [:]
    /// For each room, the number of members that take no place of their own.
    private var extra: [UUID: Int] = [:]

    /// Returns the number of a room's members that take no place of their own.
    func extraMembers(in room: UUID) -> Int {
        extra.isEmpty ? 0 : extra[room] ?? 0
    }

    /// Records that a member has entered a room in which its sender has another member.
    mutating func add(_ member: Connection, besides other: Connection) {
        let place = places[ObjectIdentifier(other)] ?? Place()
        place.members += 1
        places[ObjectIdentifier(other)] = place
        places[ObjectIdentifier(member)] = place
        extra[member.room.id, default: 0] += 1
    }

    /// Records that a member has left its room.
    mutating func remove(_ member: Connection) {
        guard !places.isEmpty, let place = places.removeValue(forKey: ObjectIdentifier(member)) else { return }
        place.members -= 1
        guard place.members > 0, let count = extra[member.room.id] else { return }
        extra[member.room.id] = count > 1 ? count - 1 : nil
    }
}
