import Basics
import FoundationEssentials

/// Rooms that closed early, a moment ago. A value.
struct DissolvedRooms {
    /// How long a notification of their opening may still arrive.
    static let memory = Duration.seconds(60)

    private var rooms: Set<UUID> = []
    /// The rooms in order of time.
    private var ends: ArraySlice<(room: UUID, at: MonotonicTime)> = []

    mutating func insert(_ room: UUID, at now: MonotonicTime) {
        while let first = ends.first, now - first.at > Self.memory {
            ends.removeFirst()
            rooms.remove(first.room)
        }
        if rooms.insert(room).inserted { ends.append((room, now)) }
    }

    func contains(_ room: UUID) -> Bool { rooms.contains(room) }
}
