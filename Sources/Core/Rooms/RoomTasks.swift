import Basics
import FoundationEssentials

/// The tasks of full match rooms, as the database reported them. Each task may enter its room even if the room is full.
struct RoomTasks {
    private struct Entry {
        let tasks: Set<UUID>
        let at: MonotonicTime
    }

    private static let capacity = 4096
    /// How long a report is trusted about a task that it doesn't contain. Tasks may join a room after the report.
    private static let lifetime = Duration.seconds(2)

    private var entries: [UUID: Entry] = [:]

    mutating func insert(_ tasks: Set<UUID>, of room: UUID, at now: MonotonicTime) {
        if entries.count >= Self.capacity { entries.removeAll(keepingCapacity: true) }
        entries[room] = Entry(tasks: tasks, at: now)
    }

    mutating func remove(_ room: UUID) {
        entries[room] = nil
    }

    /// Returns whether a task belongs to the room; nil if the database must be asked.
    func contains(_ task: UUID, in room: UUID, at now: MonotonicTime) -> Bool? {
        guard let entry = entries[room] else { return nil }
        if entry.tasks.contains(task) { return true }
        return now - entry.at < Self.lifetime ? false : nil
    }
}

/// The capacity of match rooms.
extension RoomShard {
    /// The number of connections with which each task of a match may be in a full room. A phone may reconnect before
    /// its old connections have ended.
    static let connectionsPerTask = 4

    /// Returns whether the capacity of an open room admits a newcomer: `open`, `full` or `fullUnlessTask`.
    ///
    /// - Parameters:
    ///   - members: The number of members on this daemon.
    ///   - task: The identity that the newcomer claims.
    ///   - siblings: The members that the newcomer's sender already has in the room.
    func capacityDecision(
        in room: UUID, _ members: Int, policy: RoomPolicy, for task: UUID?, besides siblings: [Connection]
    ) -> EntryDecision {
        guard policy.capacity < .max else { return .open }
        let extra = sharedMembers.extraMembers(in: room)
        guard siblings.isEmpty else { return extra < policy.extraMembers ? .open : .full }
        let taken = members - extra + connectionsElsewhere(in: room)
        guard taken >= policy.capacity else { return .open }
        guard let task else { return .full }
        switch roomTasks.contains(task, in: room, at: loop.now) {
        case nil: return .fullUnlessTask
        case false?: return .full
        case true?:
            let own = map.connections(of: room).count { people.person(of: $0) == task }
            return own < Self.connectionsPerTask ? .open : .full
        }
    }

    /// Stores the tasks of a room's match.
    func setTasks(_ tasks: Set<UUID>, of room: UUID) {
        roomTasks.insert(tasks, of: room, at: loop.now)
    }
}
