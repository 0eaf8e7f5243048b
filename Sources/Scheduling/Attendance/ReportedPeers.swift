import FoundationEssentials
import Rooms

/// Who is in rooms on this daemon, as far as the database was told. Rooms that are closed aren't among them, nor are those with nobody in
/// them.
struct ReportedPeers: Sendable {
    /// Of a room, in a report.
    private struct Change {
        var unnamed = 0
        var named: [UUID: Int] = [:]

        mutating func add(_ change: Int, _ identity: UUID?) {
            if let identity { named[identity, default: 0] += change } else { unnamed += change }
        }
    }

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
        var changes: [UUID: Change] = [:]
        changes.reserveCapacity(events.count)
        for event in events {
            switch event.kind {
            case .joined: changes[event.room, default: Change()].add(1, event.claimedIdentity)
            case .left: changes[event.room, default: Change()].add(-1, event.claimedIdentity)
            case .closed:
                changes[event.room] = nil
                close(event.room)
            }
        }
        for (room, change) in changes {
            if change.unnamed != 0 { add(change.unnamed, to: room, nil) }
            for (identity, change) in change.named { add(change, to: room, identity) }
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
