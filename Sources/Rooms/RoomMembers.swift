package import FoundationEssentials

/// Who is in a room, on one daemon or on several together.
package struct RoomMembers: Sendable, Equatable {
    /// All of them, for the room's size.
    package var connections: Int
    /// Of these, those that didn't say whose they are: each counts as somebody.
    package var anonymous: Int
    /// Who said who they are, however many connections each has; also those who left a moment ago, and may come back.
    package var people: Set<UUID>

    package init(connections: Int = 0, anonymous: Int = 0, people: Set<UUID> = []) {
        self.connections = connections
        self.anonymous = anonymous
        self.people = people
    }

    /// How many are here, as people count.
    package var headcount: Int { anonymous + people.count }

    /// Whether there is nothing to know of the room.
    package var isEmpty: Bool { connections == 0 && people.isEmpty }

    /// Those of another daemon as well.
    package mutating func add(_ others: RoomMembers) {
        connections += others.connections
        anonymous += others.anonymous
        people.formUnion(others.people)
    }
}

/// A room, and who is in it.
package struct MembersOfRoom: Sendable, Equatable {
    package let room: UUID
    package let members: RoomMembers

    package init(_ room: UUID, _ members: RoomMembers) {
        self.room = room
        self.members = members
    }
}
