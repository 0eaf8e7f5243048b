import Basics
import FoundationEssentials
import Rooms
import Wire

/// The places taken in each session on this daemon, on all loops. Any thread may use them.
package final class SessionOccupancy: Sendable {
    /// The reason why a connection can't enter a session.
    enum Refusal {
        case full
        /// The connection's network already has its share of places.
        case shareTaken
    }

    private struct Places {
        var taken = 0
        /// The number of subscriptions without a place of their own, because their connection already has one.
        var extra = 0
        /// The number of places of each network that limits apply to.
        var byNetwork: [IPAddress: Int] = [:]
    }

    private let sessions = Locked<[UUID: Places]>([:])
    /// The maximum number of places in a session.
    let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    func count(in session: UUID) -> Int {
        sessions.withLock { $0[session]?.taken ?? 0 }
    }

    /// The number of places taken in all sessions.
    package var total: Int { sessions.withLock { $0.values.reduce(0) { $0 + $1.taken } } }

    /// Returns the reason why a connection couldn't enter now. Returns `nil` if it could.
    ///
    /// - Parameter network: The connection's network. `nil` if limits don't apply to it.
    func refusal(of session: UUID, from network: IPAddress?) -> Refusal? {
        sessions.withLock { refusal($0[session] ?? Places(), from: network) }
    }

    /// Takes a place for a connection.
    ///
    /// - Parameter isPresenter: Whether the connection has shown the session's key. Such a connection always gets a
    ///   place.
    /// - Returns: The refusal. `nil` if a place was taken.
    func enter(_ session: UUID, from network: IPAddress?, isPresenter: Bool) -> Refusal? {
        sessions.withLock { sessions in
            var places = sessions[session] ?? Places()
            if !isPresenter, let refusal = refusal(places, from: network) { return refusal }
            places.taken += 1
            if let network { places.byNetwork[network, default: 0] += 1 }
            sessions[session] = places
            return nil
        }
    }

    /// Admits another subscription of a connection that already has a place. The number of such subscriptions is
    /// limited, because each receives all events.
    ///
    /// - Returns: Whether the subscription may enter.
    func enterAgain(_ session: UUID) -> Bool {
        sessions.withLock { sessions in
            guard let extra = sessions[session]?.extra, extra < max(RoomPolicy.leastExtraMembers, limit) else {
                return false
            }
            sessions[session]?.extra += 1
            return true
        }
    }

    func leaveAgain(_ session: UUID) {
        sessions.withLock { $0[session]?.extra -= 1 }
    }

    /// Frees a place.
    ///
    /// - Returns: Whether the session has no taken places any more.
    func leave(_ session: UUID, from network: IPAddress?) -> Bool {
        sessions.withLock { sessions in
            guard var places = sessions.removeValue(forKey: session) else { return false }
            places.taken -= 1
            guard places.taken > 0 else { return true }
            if let network, let count = places.byNetwork[network] {
                places.byNetwork[network] = count > 1 ? count - 1 : nil
            }
            sessions[session] = places
            return false
        }
    }

    /// Returns the reason why a network can't take a place. A network must have fewer places than are free. So one
    /// network gets at most half of the places, and even several networks leave some for others.
    private func refusal(_ places: Places, from network: IPAddress?) -> Refusal? {
        let free = limit - places.taken
        guard free > 0 else { return .full }
        guard let network, places.byNetwork[network, default: 0] >= free else { return nil }
        return .shareTaken
    }
}
