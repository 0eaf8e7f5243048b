import FoundationEssentials

/// Where somebody's partner is: whoever else is in the room, whether it said who it is or not.
package enum PartnerPresence: String, Sendable {
    /// Hasn't come yet.
    case expected
    case here
    /// Has lost its connection a moment ago, and may be coming back.
    case away
    case left
}

/// Who is in a room and who was, here and on other daemons, to be asked once for each of many.
struct RoomView {
    /// Of this daemon: those who didn't say who they are, and those who did, or have several places in the room.
    let anonymous: Int
    let live: Set<UUID>
    /// Of this daemon, within the grace.
    let departed: Set<UUID>
    let elsewhere: RoomMembers
    /// All that ever were seen there; ``nobody`` for those who didn't say who they are.
    let came: Set<UUID>
    let headcount: Int

    /// No person has this UUID.
    static let nobody = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// - Parameter own: Who asks; of nobody's partner nothing is known.
    func presence(for own: UUID?) -> PresenceCount {
        PresenceCount(headcount, partner: own.map(partner))
    }

    /// All who are there, in a room where that is told.
    var company: PresenceCount {
        PresenceCount(headcount, people: live.union(departed).union(elsewhere.people))
    }

    private func partner(of own: UUID) -> PartnerPresence {
        func others(_ people: Set<UUID>) -> Int { people.count - (people.contains(own) ? 1 : 0) }
        // Who has left another daemon a moment ago is among its people, and has no connection there any more.
        let named = elsewhere.connections - elsewhere.anonymous
        let isElsewhere = others(elsewhere.people) > 0
        if anonymous > 0 || elsewhere.anonymous > 0 || others(live) > 0 { return .here }
        if isElsewhere, named > (elsewhere.people.contains(own) ? 1 : 0) { return .here }
        if isElsewhere || others(departed) > 0 { return .away }
        return others(came) > 0 ? .left : .expected
    }
}
