package import FoundationEssentials

/// The members of a room, on one daemon or on several together.
package struct RoomMembers: Sendable, Equatable {
    /// The number of connections. The capacity of the room limits it. Several connections of one sender count as one.
    package var connections: Int
    /// The number of connections without a name. Each counts as one person.
    package var anonymous: Int
    /// The named people, however many connections each has, including those who have just left and may come back.
    package var people: Set<UUID>
    /// The number of further named people. In a large room, ``people`` doesn't list everyone: see ``naming(atMost:)``.
    package var unnamed: Int

    package init(connections: Int = 0, anonymous: Int = 0, people: Set<UUID> = [], unnamed: Int = 0) {
        self.connections = connections
        self.anonymous = anonymous
        self.people = people
        self.unnamed = unnamed
    }

    /// The number of people in the room.
    package var headcount: Int { anonymous + peopleCount }

    private var peopleCount: Int { people.count + unnamed }

    /// Whether the room has no connections and no people.
    package var isEmpty: Bool { connections == 0 && people.isEmpty }

    /// Adds the members on another daemon.
    package mutating func add(_ others: RoomMembers) {
        connections += others.connections
        anonymous += others.anonymous
        if unnamed == 0, others.unnamed == 0 { people.formUnion(others.people) } else { addCrowd(others) }
    }

    /// Lists at most `limit` people. Every daemon lists the people with the smallest UUIDs. UUIDs are random, so these
    /// people are a fair sample.
    package func naming(atMost limit: Int) -> RoomMembers {
        guard people.count > limit else { return self }
        var members = self
        members.people = Set(people.sorted().prefix(limit))
        members.unnamed += people.count - limit
        return members
    }

    /// Adds members of another daemon, if at least one of the two lists isn't complete. A person may be on both
    /// daemons, so this estimates the number of people who are counted twice. An incomplete list has the smallest UUIDs
    /// of its daemon's people, so it is complete up to its last UUID. Up to that UUID, the people on both lists are
    /// counted exactly. The estimate assumes the same proportion for all other people. With 16,384 listed people the
    /// error is about one percent.
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

/// A room and its members.
package struct MembersOfRoom: Sendable, Equatable {
    package let room: UUID
    package let members: RoomMembers

    package init(_ room: UUID, _ members: RoomMembers) {
        self.room = room
        self.members = members
    }
}
