import Basics
package import FoundationEssentials

/// What becomes of who wants to enter a room.
package enum EntryDecision: Sendable {
    case open
    case full
    /// As the database said so long ago.
    case refused(RoomState, age: Duration)
    /// The database has to be asked.
    case unknown
}

/// Which of one loop's rooms can be entered, and why others can't.
struct OpenRooms {
    /// Makes an open room of any UUID.
    private let areAll: Bool
    /// Besides those.
    private var rooms: Set<UUID> = []
    private var refusals = RefusalCache()

    init(areAll: Bool) {
        self.areAll = areAll
    }

    var count: Int { rooms.count }

    func contains(_ room: UUID, _ policy: RoomPolicy) -> Bool {
        !policy.mustBeOpen || areAll || rooms.contains(room)
    }

    mutating func open(_ opened: [UUID]) {
        for room in opened {
            rooms.insert(room)
            refusals.remove(room)
        }
    }

    mutating func close(_ room: UUID) {
        rooms.remove(room)
    }

    /// What the database said of a room that nobody can enter.
    mutating func remember(_ state: RoomState, of room: UUID, at now: MonotonicTime) {
        refusals.insert(state, of: room, at: now)
    }

    /// Of a room that isn't open.
    mutating func refusal(of room: UUID, at now: MonotonicTime) -> EntryDecision {
        refusals.refusal(of: room, at: now).map { .refused($0.state, age: $0.age) } ?? .unknown
    }
}

extension RoomShard {
    package var openCount: Int { openRooms.count }

    package func decision(of room: UUID, policy: RoomPolicy) -> EntryDecision {
        guard openRooms.contains(room, policy) else { return openRooms.refusal(of: room, at: loop.now) }
        return map.count(of: room) + connectionsElsewhere(in: room) < policy.capacity ? .open : .full
    }

    /// Remembers for a moment what the database said of a room that nobody can enter.
    package func remember(_ state: RoomState, of room: UUID) {
        openRooms.remember(state, of: room, at: loop.now)
    }
}
