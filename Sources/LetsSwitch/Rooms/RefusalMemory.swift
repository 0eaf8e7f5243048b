import FoundationEssentials
import Server
import Sockets

/// Why nobody can enter a room now, as the database knows it.
enum RoomRefusal: Sendable, Equatable {
    /// There is no such room: it never was, or its task found no partner.
    case unknown
    /// It opens at `opensAt`, `opensIn` after the database was asked.
    case notOpen(opensAt: Instant, opensIn: Duration)
    /// Its time is over.
    case closed
}

/// What the database said, a moment ago, of rooms that can't be entered.
///
/// The app reconnects at once, without a pause, whenever a socket is refused: asking the database each time would be
/// its ruin. So a refusal costs a look-up in a table that is bounded in size and in time.
struct RefusalMemory {
    private struct Entry {
        let refusal: RoomRefusal
        let at: MonotonicTime
    }

    static let capacity = 4096
    /// How long an answer is believed.
    static let lifetime = Duration.seconds(1)

    private var entries: [UUID: Entry] = [:]

    mutating func remember(_ refusal: RoomRefusal, of room: UUID, at now: MonotonicTime) {
        // Full within a second: somebody makes up ids. Forgetting all of them costs nothing but questions.
        if entries.count >= Self.capacity { entries.removeAll(keepingCapacity: true) }
        entries[room] = Entry(refusal: refusal, at: now)
    }

    mutating func forget(_ room: UUID) {
        entries[room] = nil
    }

    /// The refusal, if it is still to be believed.
    mutating func refusal(of room: UUID, at now: MonotonicTime) -> Abort? {
        guard let entry = entries[room] else { return nil }
        let age = now - entry.at
        if age < Self.lifetime {
            switch entry.refusal {
            case .notOpen(_, let opensIn) where opensIn <= age: break
            default: return Abort(entry.refusal, after: age)
            }
        }
        entries[room] = nil
        return nil
    }
}

extension Abort {
    /// The answer to who can't enter a room, `age` after the database was asked.
    init(_ refusal: RoomRefusal, after age: Duration = .zero) {
        switch refusal {
        case .unknown:
            self.init(.notFound, code: "no_such_room", reason: "There is no such room.")
        case .notOpen(let opensAt, let opensIn):
            let seconds = max(1, Int((max(.zero, opensIn - age) + .seconds(1) - .nanoseconds(1)).components.seconds))
            self.init(
                .forbidden, code: "room_not_open", reason: "The room opens at \(opensAt).",
                headers: [HTTPField("Retry-After", String(seconds))],
                details: [("opensAt", opensAt.description)])
        case .closed:
            self.init(.gone, code: "room_closed", reason: "The room's time is over.")
        }
    }
}
