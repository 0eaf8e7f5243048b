import FoundationEssentials
import Rooms

/// The sessions that the Action Cable connections of one loop subscribe to. A connection takes one place in a session,
/// even with several subscriptions. Must be used on the loop.
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

    /// Removes a subscription.
    ///
    /// - Returns: Whether it was the connection's last subscription to the session.
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
