import Basics

/// How many people are in a room: told to who asked for it.
package struct PresenceCount: Message, Hashable {
    package let count: Int

    package init(_ count: Int) {
        self.count = count
    }
}

/// Who wants to know how many are in one room, and when they were told. A value; `RoomShard` tells them.
struct PresenceBoard {
    /// Between two changes that are told.
    static let interval = Duration.seconds(1)

    private struct Watcher {
        let connection: Connection
        var told: Int
    }

    private enum State {
        /// All know the count as it was at the last change.
        case told(at: MonotonicTime?)
        /// It has changed since, and a timer runs.
        case changed
    }

    private var watchers: [Watcher] = []
    private var state = State.told(at: nil)

    var isEmpty: Bool { watchers.isEmpty }

    /// It has just been told.
    mutating func add(_ connection: Connection, told: Int) {
        watchers.append(Watcher(connection: connection, told: told))
    }

    mutating func remove(_ connection: Connection) {
        watchers.removeAll { $0.connection === connection }
    }

    /// Somebody has come or gone.
    ///
    /// - Returns: After how long all are to be told; nil if they will be anyway.
    mutating func changed(at now: MonotonicTime) -> Duration? {
        guard case .told(let last) = state else { return nil }
        state = .changed
        return last.map { max(.zero, $0 + Self.interval - now) } ?? .zero
    }

    /// - Returns: Who doesn't know yet that so many are in the room: they are told now.
    mutating func tell(_ count: Int, at now: MonotonicTime) -> [Connection] {
        var ignorant: [Connection] = []
        for index in watchers.indices where watchers[index].told != count {
            watchers[index].told = count
            ignorant.append(watchers[index].connection)
        }
        state = .told(at: ignorant.isEmpty ? nil : now)
        return ignorant
    }
}
