package import FoundationEssentials

/// The state shared by the connections of one room on one loop. Must be used on that loop.
package final class Room {
    package let id: UUID
    /// Ales of this turn that haven't been sent yet.
    var ales = AleCount()
    /// Ales of special kinds; nil if there are none.
    var cheers: CheerCounts?
    /// The ``RoomPolicy/presence`` of the first member. The rest of a policy concerns entering only and isn't stored.
    let presence: RoomPolicy.Presence
    /// Whether another daemon has members in the room and must receive its ales.
    var isShared: Bool

    init(id: UUID, presence: RoomPolicy.Presence, isShared: Bool) {
        self.id = id
        self.presence = presence
        self.isShared = isShared
    }
}

/// The rules of a kind of rooms. A value that each entering peer brings.
package struct RoomPolicy: Sendable, Hashable {
    /// Whether a peer can enter only while the room is open (``Rooms/open(_:)``).
    package let mustBeOpen: Bool
    /// The maximum number of connections, on all daemons together.
    package var capacity: Int
    /// The maximum number of members that ``capacity`` doesn't count, because their sender has another member in the
    /// room. Each of these members receives everything.
    package var extraMembers: Int { max(Self.leastExtraMembers, capacity) }
    package static let leastExtraMembers = 1_000
    /// How entries and departures are reported.
    package let presence: Presence

    package enum Presence: Sendable, Hashable {
        /// Presence isn't reported.
        case unreported
        /// Members that ask receive the names of the people present.
        case named
        /// Members that ask receive the number of people present, after a short delay, because many may come and go at
        /// the same time.
        case counted
        /// Members that ask receive the number of people present. Entries and departures are also stored.
        case reported
    }

    package init(mustBeOpen: Bool, capacity: Int, presence: Presence) {
        self.mustBeOpen = mustBeOpen
        self.capacity = capacity
        self.presence = presence
    }

    /// A match's room. It is open for a limited time, and its attendance is stored.
    package static func match(capacity: Int) -> RoomPolicy {
        RoomPolicy(mustBeOpen: true, capacity: capacity, presence: .reported)
    }

    /// A topic to follow, such as a device's reminders or the slots of a day. Everyone who knows its key may follow it,
    /// and presence isn't reported.
    package static let subscription = RoomPolicy(mustBeOpen: false, capacity: .max, presence: .unreported)

    /// The participants of a conversation: their presence is reported, and nothing is published.
    package static let participants = RoomPolicy(mustBeOpen: false, capacity: .max, presence: .named)

    /// The audience of a question session: only their number is reported.
    package static let audience = RoomPolicy(mustBeOpen: false, capacity: .max, presence: .counted)
}

/// The state of a match's room, as the database reports it.
package enum RoomState: Sendable, Hashable {
    /// Epoch seconds, by the database's clock.
    case open(closesAt: Double)
    /// Status `403`. Both in epoch seconds, by the database's clock.
    case notOpen(opensAt: Double, now: Double)
    /// Status `410`.
    case closed
    /// Status `404`.
    case unknown
}

/// A room and its closing time.
package struct OpenRoom: Hashable, Sendable {
    package let id: UUID
    /// Epoch seconds, by the database's clock.
    package let closesAt: Double

    package init(id: UUID, closesAt: Double) {
        self.id = id
        self.closesAt = closesAt
    }
}
