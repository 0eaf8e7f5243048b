package import FoundationEssentials

/// Who is in a room, on one daemon or on several together.
package struct RoomMembers: Sendable, Equatable {
    /// All of them, for the room's size.
    package var connections: Int
    /// Of these, those that didn't say whose they are: each counts as somebody.
    package var anonymous: Int
    /// Who said who they are, however many connections each has; also those who left a moment ago, and may come back.
    package var people: Set<UUID>
    /// How many more have said who they are: of a crowd not all are named, see ``naming(atMost:)``.
    package var unnamed: Int

    package init(connections: Int = 0, anonymous: Int = 0, people: Set<UUID> = [], unnamed: Int = 0) {
        self.connections = connections
        self.anonymous = anonymous
        self.people = people
        self.unnamed = unnamed
    }

    /// How many are here, as people count.
    package var headcount: Int { anonymous + peopleCount }

    private var peopleCount: Int { people.count + unnamed }

    /// Whether there is nothing to know of the room.
    package var isEmpty: Bool { connections == 0 && people.isEmpty }

    /// Those of another daemon as well.
    package mutating func add(_ others: RoomMembers) {
        connections += others.connections
        anonymous += others.anonymous
        if unnamed == 0, others.unnamed == 0 { people.formUnion(others.people) } else { addCrowd(others) }
    }

    /// No more people by name than these: those whose UUIDs come first, wherever they are. UUIDs are as good as drawn by lot, so these
    /// stand for all.
    package func naming(atMost limit: Int) -> RoomMembers {
        guard people.count > limit else { return self }
        var members = self
        members.people = Set(people.sorted().prefix(limit))
        members.unnamed += people.count - limit
        return members
    }

    /// How many are in both crowds nobody can tell from those who aren't named. But up to the last UUID that a crowd names it names all,
    /// and of these it is known; the others will be alike. Of 16,384 who are named that is right within a hundredth or so.
    private mutating func addCrowd(_ others: RoomMembers) {
        let sum = peopleCount + others.peopleCount
        let crowds = [self, others].filter { $0.unnamed > 0 }
        guard let last = crowds.compactMap({ $0.people.max() }).min() else {
            people.formUnion(others.people)
            unnamed = sum - people.count
            return
        }
        let (own, theirs) = (people.filter { $0 <= last }, others.people.filter { $0 <= last })
        people = own.union(theirs)
        unnamed = max(1, sum * people.count / (own.count + theirs.count) - people.count)
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
