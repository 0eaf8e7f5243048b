import FoundationEssentials

/// The presence of a person's partner: any other person in the room, named or not.
package enum PartnerPresence: String, Sendable {
    /// The partner has not come yet.
    case expected
    case here
    /// The partner has just lost its connection and may come back.
    case away
    case left
}

/// The present and former members of a room, here and on other daemons. Made once for the presence of many people.
struct RoomView {
    /// The number of connections on this daemon without a name.
    let anonymous: Int
    /// The people on this daemon who have a name or several connections.
    let live: Set<UUID>
    /// The people who left this daemon's part of the room within the grace period.
    let departed: Set<UUID>
    let elsewhere: RoomMembers
    /// The people who were ever seen in the room. ``nobody`` represents all people without a name.
    let came: Set<UUID>
    let headcount: Int

    /// A UUID that no person has.
    static let nobody = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// - Parameter own: The person who asks; nil for an unnamed person, whose partner is unknown.
    func presence(for own: UUID?) -> PresenceCount {
        PresenceCount(headcount, partner: own.map(partner))
    }

    /// The count with the names of all people who are present, for rooms that report names.
    var namedPresence: PresenceCount {
        PresenceCount(headcount, people: live.union(departed).union(elsewhere.people))
    }

    private func partner(of own: UUID) -> PartnerPresence {
        func others(_ people: Set<UUID>) -> Int { people.count - (people.contains(own) ? 1 : 0) }
        // A person who has just left another daemon is among its people, but has no connection there.
        let named = elsewhere.connections - elsewhere.anonymous
        let isElsewhere = others(elsewhere.people) > 0
        if anonymous > 0 || elsewhere.anonymous > 0 || others(live) > 0 { return .here }
        if isElsewhere, named > (elsewhere.people.contains(own) ? 1 : 0) { return .here }
        if isElsewhere || others(departed) > 0 { return .away }
        return others(came) > 0 ? .left : .expected
    }
}
