import Basics
import FoundationEssentials

/// What the database said, a moment ago, of rooms that can't be entered.
///
/// The app reconnects at once, without a pause, whenever a socket is refused: asking the database each time would be
/// its ruin. So a refusal costs a look-up in a table that is bounded in size and in time.
struct RefusalCache {
    private struct Entry {
        let state: RoomState
        let at: MonotonicTime
    }

    static let capacity = 4096
    /// How long an answer is believed.
    static let lifetime = Duration.seconds(1)

    private var entries: [UUID: Entry] = [:]

    mutating func insert(_ state: RoomState, of room: UUID, at now: MonotonicTime) {
        // Full within a second: somebody makes up ids. Forgetting all of them costs nothing but questions.
        if entries.count >= Self.capacity { entries.removeAll(keepingCapacity: true) }
        entries[room] = Entry(state: state, at: now)
    }

    mutating func remove(_ room: UUID) {
        entries[room] = nil
    }

    /// Why the room can't be entered, and how old that answer is, if it is still to be believed.
    mutating func refusal(of room: UUID, at now: MonotonicTime) -> (state: RoomState, age: Duration)? {
        guard let entry = entries[room] else { return nil }
        let age = now - entry.at
        if age < Self.lifetime {
            switch entry.state {
            case .open: break
            // It has opened meanwhile.
            case .notOpen(let opensAt, let then) where opensAt - then <= age / .seconds(1): break
            case .notOpen, .closed, .unknown: return (entry.state, age)
            }
        }
        entries[room] = nil
        return nil
    }
}
