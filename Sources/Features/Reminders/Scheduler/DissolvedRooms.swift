import Basics
import FoundationEssentials

/// The rooms that were recently closed early, because their match was dissolved. A value type.
struct DissolvedRooms {
    /// The maximum time after the closing in which a notification that the room opened may still arrive.
    static let memory = Duration.seconds(60)

    private var rooms: Set<UUID> = []
    /// The rooms, ordered by the time of their closing.
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
