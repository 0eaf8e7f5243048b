import Basics
package import FoundationEssentials

/// The number of people in a room, sent to the members that asked for it.
package struct PresenceCount: Message, Hashable {
    package let count: Int
    /// The partner's presence, for a named person.
    package let partner: PartnerPresence?
    /// The UUIDs of the people, in rooms that report names (``RoomPolicy/Presence/named``).
    package let people: Set<UUID>

    package init(_ count: Int, partner: PartnerPresence? = nil, people: Set<UUID> = []) {
        self.count = count
        self.partner = partner
        self.people = people
    }
}

/// The members that watch one room's presence, and the time of their last notification. A value; `RoomShard` sends the
/// notifications.
struct PresenceBoard {
    /// The minimum time between two notifications of changes.
    static let interval = Duration.seconds(1)

    private struct Watcher {
        let connection: Connection
        /// The last count sent; nil before the first.
        var sent: PresenceCount?
    }

    private enum State {
        /// All watchers have the last known count.
        case sent(at: MonotonicTime?)
        /// The count has changed, and a timer is running.
        case changed
    }

    /// The connections that watch, in no order. A dictionary, because thousands may come and go.
    private var watchers: [ObjectIdentifier: Watcher] = [:]
    private var state = State.sent(at: nil)

    var isEmpty: Bool { watchers.isEmpty }

    /// - Parameter sent: The count that was just sent to the connection, or nil.
    mutating func add(_ connection: Connection, sent: PresenceCount?) {
        watchers[ObjectIdentifier(connection)] = Watcher(connection: connection, sent: sent)
    }

    mutating func remove(_ connection: Connection) {
        watchers[ObjectIdentifier(connection)] = nil
    }

    /// Records that a person has entered or left.
    ///
    /// - Returns: The delay after which all watchers are notified; nil if that is already planned.
    mutating func changed(at now: MonotonicTime) -> Duration? {
        guard case .sent(let last) = state else { return nil }
        state = .changed
        return last.map { max(.zero, $0 + Self.interval - now) } ?? .zero
    }

    /// - Parameters:
    /// - isPaced: Whether the next change waits for the interval even if no count is sent now. Pass `true` for large
    ///   rooms, because computing their count is slow.
    /// - presence: Returns the count for a connection.
    /// - Returns: The connections whose count has changed, for the caller to notify now.
    mutating func takeNotifications(
        at now: MonotonicTime, isPaced: Bool, _ presence: (Connection) -> PresenceCount
    ) -> [(Connection, PresenceCount)] {
        var outdated: [(Connection, PresenceCount)] = []
        for index in watchers.indices {
            let presence = presence(watchers.values[index].connection)
            guard presence != watchers.values[index].sent else { continue }
            watchers.values[index].sent = presence
            outdated.append((watchers.values[index].connection, presence))
        }
        state = .sent(at: outdated.isEmpty && !isPaced ? nil : now)
        return outdated
    }
}
