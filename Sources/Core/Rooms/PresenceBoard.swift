import Basics
package import FoundationEssentials

/// How many people are in a room: told to who asked for it.
package struct PresenceCount: Message, Hashable {
    package let count: Int
    /// For who said who it is.
    package let partner: PartnerPresence?
    /// Who they are, in a room where that is told (``RoomPolicy/Presence/named``).
    package let people: Set<UUID>

    package init(_ count: Int, partner: PartnerPresence? = nil, people: Set<UUID> = []) {
        self.count = count
        self.partner = partner
        self.people = people
    }
}

/// Who wants to know who is in one room, and when they were told. A value; `RoomShard` tells them.
struct PresenceBoard {
    /// Between two changes that are told.
    static let interval = Duration.seconds(1)

    private struct Watcher {
        let connection: Connection
        /// nil: nothing yet.
        var told: PresenceCount?
    }

    private enum State {
        /// All know what there was when it was last looked at.
        case told(at: MonotonicTime?)
        /// It has changed since, and a timer runs.
        case changed
    }

    /// In no order; thousands may come and go, so each is found at once.
    private var watchers: [ObjectIdentifier: Watcher] = [:]
    private var state = State.told(at: nil)

    var isEmpty: Bool { watchers.isEmpty }

    /// - Parameter told: What it has just been told, if anything.
    mutating func add(_ connection: Connection, told: PresenceCount?) {
        watchers[ObjectIdentifier(connection)] = Watcher(connection: connection, told: told)
    }

    mutating func remove(_ connection: Connection) {
        watchers[ObjectIdentifier(connection)] = nil
    }

    /// Somebody has come or gone.
    ///
    /// - Returns: After how long all are to be told; nil if they will be anyway.
    mutating func changed(at now: MonotonicTime) -> Duration? {
        guard case .told(let last) = state else { return nil }
        state = .changed
        return last.map { max(.zero, $0 + Self.interval - now) } ?? .zero
    }

    /// - Parameters:
    ///   - isPaced: Whether the next change waits for its time also if nobody is told now: to look takes time where there are many.
    ///   - presence: What there is to tell somebody.
    /// - Returns: Who doesn't know it yet: they are told now.
    mutating func tell(
        at now: MonotonicTime, isPaced: Bool, _ presence: (Connection) -> PresenceCount
    ) -> [(Connection, PresenceCount)] {
        var ignorant: [(Connection, PresenceCount)] = []
        for index in watchers.indices {
            let presence = presence(watchers.values[index].connection)
            guard presence != watchers.values[index].told else { continue }
            watchers.values[index].told = presence
            ignorant.append((watchers.values[index].connection, presence))
        }
        state = .told(at: ignorant.isEmpty && !isPaced ? nil : now)
        return ignorant
    }
}
