import Basics
import FoundationEssentials
import Rooms
import Wire

/// The places that are taken in each session on this daemon, on all loops. Any thread.
package final class SessionOccupancy: Sendable {
    /// The reason why a connection gets no place.
    enum Refusal {
        case full
        /// The connection's network has its share.
        case shareTaken
    }

    private struct Places {
        var taken = 0
        /// The subscriptions that take no place of their own, because their connection has a place.
        var extra = 0
        /// The places of each network that limits count.
        var byNetwork: [IPAddress: Int] = [:]
    }

    private let sessions = Locked<[UUID: Places]>([:])
    /// The number of places of a session.
    let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    func count(in session: UUID) -> Int {
        sessions.withLock { $0[session]?.taken ?? 0 }
    }

    /// The number of places taken in all sessions.
    package var total: Int { sessions.withLock { $0.values.reduce(0) { $0 + $1.taken } } }

    /// Returns why a connection would get no place now.
    ///
    /// - Parameter network: The connection's network; nil if limits don't count it.
    func refusal(of session: UUID, from network: IPAddress?) -> Refusal? {
        sessions.withLock { refusal($0[session] ?? Places(), from: network) }
    }

    /// Takes a place for a connection.
    ///
    /// - Parameter isPresenter: Whether the connection showed the session's key. It always gets a place.
    /// - Returns: The refusal, if no place was taken.
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

    /// Admits another subscription of a connection that has a place. It receives everything, so their number is limited.
    ///
    /// - Returns: Whether it may enter.
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

    /// Gives a place back.
    ///
    /// - Returns: Whether it was the last one taken in the session.
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

    /// A network may take a place while it has fewer places than are free. A single network therefore gets at most half of
    /// the places, and several networks together still leave some to others.
    private func refusal(_ places: Places, from network: IPAddress?) -> Refusal? {
        let free = limit - places.taken
        guard free > 0 else { return .full }
        guard let network, places.byNetwork[network, default: 0] >= free else { return nil }
        return .shareTaken
    }
}
