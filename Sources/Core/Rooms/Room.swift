package import FoundationEssentials

/// What the connections of one room on one loop share. On that loop.
package final class Room {
    package let id: UUID
    /// Ales of this turn that nobody has been sent yet.
    var ales = AleCount()
    /// Those of kinds; nil: none.
    var cheers: CheerCounts?
    /// ``RoomPolicy/presence`` of who entered first. The rest of a policy is for those who enter, so it isn't kept.
    let presence: RoomPolicy.Presence
    /// Whether another daemon has somebody in the room: then its ales go there too.
    var isShared: Bool

    init(id: UUID, presence: RoomPolicy.Presence, isShared: Bool) {
        self.id = id
        self.presence = presence
        self.isShared = isShared
    }
}

/// What holds for a kind of rooms. A value; whoever enters brings it.
package struct RoomPolicy: Sendable, Hashable {
    /// Whether one can enter only while the room is open (``Rooms/open(_:)``).
    package let mustBeOpen: Bool
    /// Connections at most, on all daemons.
    package var capacity: Int
    /// What is made of coming and going.
    package let presence: Presence

    package enum Presence: Sendable, Hashable {
        /// Nothing, here or elsewhere.
        case untold
        /// Who asks is told who is there.
        case named
        /// Who asks is told how many are there. Many may come and go at once, so this takes a moment, for a newcomer too.
        case counted
        /// Who asks is told how many are there; and who comes and goes is reported, to be written down.
        case reported
    }

    package init(mustBeOpen: Bool, capacity: Int, presence: Presence) {
        self.mustBeOpen = mustBeOpen
        self.capacity = capacity
        self.presence = presence
    }

    /// A match's room: open for a while, and who was in it is written down.
    package static func match(capacity: Int) -> RoomPolicy {
        RoomPolicy(mustBeOpen: true, capacity: capacity, presence: .reported)
    }

    /// Something to listen to: a device's reminders, a day's slots. Whoever knows its key may, and nobody is told.
    package static let subscription = RoomPolicy(mustBeOpen: false, capacity: .max, presence: .untold)

    /// Where it is seen who is there, and nothing is said: those who have a conversation.
    package static let company = RoomPolicy(mustBeOpen: false, capacity: .max, presence: .named)

    /// The same, of so many that they are counted only: an audience.
    package static let hall = RoomPolicy(mustBeOpen: false, capacity: .max, presence: .counted)
}

/// Whether a match's room can be entered, as the database says.
package enum RoomState: Sendable, Hashable {
    /// Epoch seconds, by the database's clock.
    case open(closesAt: Double)
    /// `403`; both in epoch seconds, by the database's clock.
    case notOpen(opensAt: Double, now: Double)
    /// `410`.
    case closed
    /// `404`.
    case unknown
}

/// A room and when it closes.
package struct OpenRoom: Hashable, Sendable {
    package let id: UUID
    /// Epoch seconds, by the database's clock.
    package let closesAt: Double

    package init(id: UUID, closesAt: Double) {
        self.id = id
        self.closesAt = closesAt
    }
}
