import Domain
import FoundationEssentials
import Server
import Sockets
import Wire

/// What the database said, a moment ago, of rooms that can't be entered.
///
/// The app reconnects at once, without a pause, whenever a socket is refused: asking the database each time would be
/// its ruin. So a refusal costs a look-up in a table that is bounded in size and in time.
struct RefusalMemory {
    private struct Entry {
        let state: RoomState
        let at: MonotonicTime
    }

    static let capacity = 4096
    /// How long an answer is believed.
    static let lifetime = Duration.seconds(1)

    private var entries: [UUID: Entry] = [:]

    mutating func remember(_ state: RoomState, of room: UUID, at now: MonotonicTime) {
        // Full within a second: somebody makes up ids. Forgetting all of them costs nothing but questions.
        if entries.count >= Self.capacity { entries.removeAll(keepingCapacity: true) }
        entries[room] = Entry(state: state, at: now)
    }

    mutating func forget(_ room: UUID) {
        entries[room] = nil
    }

    /// The refusal, if it is still to be believed.
    mutating func refusal(of room: UUID, at now: MonotonicTime) -> Abort? {
        guard let entry = entries[room] else { return nil }
        let age = now - entry.at
        if age < Self.lifetime {
            switch entry.state {
            case .notOpen(let opensAt, let then) where opensAt - then <= age / .seconds(1): break
            default: return Abort(entry.state, after: age)
            }
        }
        entries[room] = nil
        return nil
    }
}

extension Abort {
    /// The answer to who wants to enter a room that is not open, `age` after the database was asked; `nil` for one that is.
    init?(_ state: RoomState, after age: Duration = .zero) {
        switch state {
        case .open:
            return nil
        case .unknown:
            self.init(.notFound, code: "no_such_room", reason: "There is no such room.")
        case .closed:
            self.init(.gone, code: "room_closed", reason: "The room's time is over.")
        case .notOpen(let opensAt, let then):
            let left = (opensAt - then - age / .seconds(1)).rounded(.up)
            let instant = Instant(epoch: opensAt)?.description ?? "another time"
            self.init(
                .forbidden, code: "room_not_open", reason: "The room opens at \(instant).",
                headers: [HTTPField("Retry-After", String(Int(max(1, min(left, 1e9)))))],
                details: [("opensAt", instant)])
        }
    }
}
