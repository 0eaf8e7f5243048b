import FoundationEssentials
import Rooms

/// Who is in rooms on this daemon, as far as the database was told. Rooms that are closed aren't among them, nor are those with nobody in
/// them.
struct ReportedPeers: Sendable {
    /// Connections that didn't say who they are, by the room: most of all, so they have a table with small entries for themselves.
    private var unnamed: [UUID: UInt32] = [:]
    /// The others, by the room and by who they say they are.
    private var named: [UUID: [UUID: Int]] = [:]
    private var lastReport = 0

    var rooms: Set<UUID> { Set(unnamed.keys).union(named.keys) }

    /// How many connections a room has, by who they say they are.
    func connections(in room: UUID) -> [(claimedIdentity: UUID?, count: Int)] {
        (unnamed[room].map { [(nil, Int($0))] } ?? []) + (named[room]?.map { ($0.key, $0.value) } ?? [])
    }

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
        }
    }

    mutating func close(_ room: UUID) {
        unnamed[room] = nil
        named[room] = nil
    }

    /// Nobody leaves who isn't there.
    private mutating func add(_ change: Int, to room: UUID, _ identity: UUID?) {
        guard let identity else {
            let count = Int(unnamed[room, default: 0]) + change
            unnamed[room] = count > 0 ? UInt32(clamping: count) : nil
            return
        }
        let count = (named[room]?[identity] ?? 0) + change
        named[room, default: [:]][identity] = count > 0 ? count : nil
        if named[room]?.isEmpty == true { named[room] = nil }
    }
}
