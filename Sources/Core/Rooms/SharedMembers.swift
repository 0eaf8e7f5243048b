import FoundationEssentials

/// The members of senders that have several members in one room. The room's capacity limits its senders and other
/// connections. Of each sender it counts only one member, because all members of a sender are one client.
struct SharedMembers {
    /// The members of one sender in one room.
    private final class Group {
        var members = 1
    }

    /// The group of each member whose sender has several members in the room.
    private var groups: [ObjectIdentifier: Group] = [:]
    /// For each room, the number of members that the capacity doesn't count.
    private var extra: [UUID: Int] = [:]

    /// Returns the number of a room's members that ``RoomPolicy/capacity`` doesn't count.
    /// ``RoomPolicy/extraMembers`` limits this number instead.
    func extraMembers(in room: UUID) -> Int {
        extra.isEmpty ? 0 : extra[room] ?? 0
    }

    /// Records that a member has entered a room in which its sender has another member.
    mutating func add(_ member: Connection, besides other: Connection) {
        let group = groups[ObjectIdentifier(other)] ?? Group()
        group.members += 1
        groups[ObjectIdentifier(other)] = group
        groups[ObjectIdentifier(member)] = group
        extra[member.room.id, default: 0] += 1
    }

    /// Records that a member has left its room.
    mutating func remove(_ member: Connection) {
        guard !groups.isEmpty, let group = groups.removeValue(forKey: ObjectIdentifier(member)) else { return }
        group.members -= 1
        guard group.members > 0, let count = extra[member.room.id] else { return }
        extra[member.room.id] = count > 1 ? count - 1 : nil
    }
}
