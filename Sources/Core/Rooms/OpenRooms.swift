import Basics
package import FoundationEssentials

/// The result of a request to enter a room.
package enum EntryDecision: Sendable {
    case open
    case full
    /// Full, except for a task of the room's match. The database must be asked whether the newcomer's task is one of
    /// the match.
    case fullUnlessTask
    /// Refused because of the room's state, which the database reported `age` ago.
    case refused(RoomState, age: Duration)
    /// The database must be asked.
    case unknown
}

/// The open rooms of one loop, and the recent refusals.
struct OpenRooms {
    /// Whether every UUID is an open room.
    private let areAll: Bool
    /// The open rooms, unless all are open.
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

    /// Remembers for a moment that the database refused a room.
    mutating func remember(_ state: RoomState, of room: UUID, at now: MonotonicTime) {
        refusals.insert(state, of: room, at: now)
    }

    /// Returns the refusal of a room that isn't open.
    mutating func refusal(of room: UUID, at now: MonotonicTime) -> EntryDecision {
        refusals.refusal(of: room, at: now).map { .refused($0.state, age: $0.age) } ?? .unknown
    }
}

extension RoomShard {
    package var openCount: Int { openRooms.count }

    /// - Parameters:
    ///   - task: The identity that the newcomer claims.
    ///   - siblings: The members that the newcomer's sender already has in the room.
    package func decision(
        of room: UUID, policy: RoomPolicy, for task: UUID? = nil, besides siblings: [Connection] = []
    ) -> EntryDecision {
        guard openRooms.contains(room, policy) else { return openRooms.refusal(of: room, at: loop.now) }
        return capacityDecision(in: room, map.count(of: room), policy: policy, for: task, besides: siblings)
    }

    /// Remembers for a moment that the database refused a room.
    package func remember(_ state: RoomState, of room: UUID) {
        openRooms.remember(state, of: room, at: loop.now)
    }
}
