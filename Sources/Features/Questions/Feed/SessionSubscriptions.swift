import FoundationEssentials
import Rooms

/// The subscriptions of one loop's Action Cable connections to sessions. A connection takes one place in a session, however
/// many subscriptions it has there. On the loop.
struct SessionSubscriptions {
    private struct Key: Hashable {
        let session: UUID
        let connection: ObjectIdentifier
    }

    /// The number of subscriptions of each connection to each session.
    private var subscriptions: [Key: Int] = [:]

    /// Returns the number of subscriptions that a connection has to a session.
    func count(of sender: Sender, in session: UUID) -> Int {
        subscriptions[Key(session: session, connection: ObjectIdentifier(sender))] ?? 0
    }

    mutating func add(_ sender: Sender, to session: UUID) {
        subscriptions[Key(session: session, connection: ObjectIdentifier(sender)), default: 0] += 1
    }

    /// - Returns: Whether this was the connection's last subscription to the session.
    mutating func remove(_ sender: Sender, from session: UUID) -> Bool {
        let key = Key(session: session, connection: ObjectIdentifier(sender))
        guard let count = subscriptions[key], count > 1 else {
            subscriptions[key] = nil
            return true
        }
        subscriptions[key] = count - 1
        return false
    }
}
