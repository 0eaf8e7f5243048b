import FoundationEssentials

/// The presence of a person's partner: any other person in the room, named or not.
package enum PartnerPresence: String, Sendable {
    /// Has not come yet.
    case expected
    case here
    /// Has just lost its connection and may come back.
    case away
    case left
}

/// The present and former members of a room, here and on other daemons, prepared for many questions.
struct RoomView {
    /// On this daemon: the connections without a name, and the people with a name or several connections.
    let anonymous: Int
    let live: Set<UUID>
    /// The people on this daemon who left within the grace.
    let departed: Set<UUID>
    let elsewhere: RoomMembers
    /// All people who were ever seen in the room; ``nobody`` represents those without a name.
    let came: Set<UUID>
    let headcount: Int

    /// A UUID that no person has.
    static let nobody = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// - Parameter own: The person who asks. The partner of an unnamed person is unknown.
    func presence(for own: UUID?) -> PresenceCount {
        PresenceCount(headcount, partner: own.map(partner))
    }

    /// The count with the names of all who are present, for rooms that report names.
    var namedPresence: PresenceCount {
        PresenceCount(headcount, people: live.union(departed).union(elsewhere.people))
    }

    private func partner(of own: UUID) -> PartnerPresence {
        func others(_ people: Set<UUID>) -> Int { people.count - (people.contains(own) ? 1 : 0) }
        // A person who has just left another daemon is counted among its people, but has no connection there.
        let named = elsewhere.connections - elsewhere.anonymous
        let isElsewhere = others(elsewhere.people) > 0
        if anonymous > 0 || elsewhere.anonymous > 0 || others(live) > 0 { return .here }
        if isElsewhere, named > (elsewhere.people.contains(own) ? 1 : 0) { return .here }
        if isElsewhere || others(departed) > 0 { return .away }
        return others(came) > 0 ? .left : .expected
    }
}
