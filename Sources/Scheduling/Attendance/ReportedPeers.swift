import FoundationEssentials
import Rooms

/// Who is in rooms on this daemon, as far as the database was told.
struct ReportedPeers: Sendable {
    /// Connections, by the room and by who they say they are. Rooms that are closed aren't among them.
    private(set) var rooms: [UUID: [UUID?: Int]] = [:]
    private var lastReport = 0

    /// What a report has said; nothing if that one was taken in before.
    mutating func take(_ events: [PresenceEvent], of report: Int) {
        guard report > lastReport else { return }
        lastReport = report
        // Together, as the database counts them: of two events one may have overtaken the other.
        var changes: [UUID: [UUID?: Int]] = [:]
        for event in events {
            switch event.kind {
            case .joined: changes[event.room, default: [:]][event.claimedIdentity, default: 0] += 1
            case .left: changes[event.room, default: [:]][event.claimedIdentity, default: 0] -= 1
            case .closed:
                changes[event.room] = nil
                close(event.room)
            }
        }
        for (room, changes) in changes {
            for (identity, change) in changes { add(change, to: room, identity) }
            if rooms[room]?.isEmpty == true { rooms[room] = nil }
        }
    }

    mutating func close(_ room: UUID) {
        rooms[room] = nil
    }

    private mutating func add(_ change: Int, to room: UUID, _ identity: UUID?) {
        let count = (rooms[room]?[identity] ?? 0) + change
        rooms[room, default: [:]][identity] = count > 0 ? count : nil
    }
}
