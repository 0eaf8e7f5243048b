import Basics
import FoundationEssentials

/// Recent refusals of rooms by the database.
///
/// The app reconnects without a pause when a socket is refused. Asking the database each time would overload it. A
/// refusal therefore costs a lookup in a table of bounded size and age.
struct RefusalCache {
    private struct Entry {
        let state: RoomState
        let at: MonotonicTime
    }

    static let capacity = 4096
    /// How long a refusal is valid.
    static let lifetime = Duration.seconds(1)

    private var entries: [UUID: Entry] = [:]

    mutating func insert(_ state: RoomState, of room: UUID, at now: MonotonicTime) {
        // If the table fills up within a second, the ids are made up. Dropping all entries costs only queries.
        if entries.count >= Self.capacity { entries.removeAll(keepingCapacity: true) }
        entries[room] = Entry(state: state, at: now)
    }

    mutating func remove(_ room: UUID) {
        entries[room] = nil
    }

    /// Returns the reason why the room can't be entered, and the age of the database's answer; nil without a valid
    /// answer.
    mutating func refusal(of room: UUID, at now: MonotonicTime) -> (state: RoomState, age: Duration)? {
        guard let entry = entries[room] else { return nil }
        let age = now - entry.at
        if age < Self.lifetime {
            switch entry.state {
            case .open: break
            // The opening time has passed since that answer.
            case .notOpen(let opensAt, let then) where opensAt - then <= age / .seconds(1): break
            case .notOpen, .closed, .unknown: return (entry.state, age)
            }
        }
        entries[room] = nil
        return nil
    }
}
