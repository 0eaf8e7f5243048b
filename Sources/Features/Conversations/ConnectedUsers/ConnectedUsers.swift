import Basics

/// The users with subscribers on this daemon. A daemon needn't read messages for other users. Any thread may use them.
package final class ConnectedUsers: Sendable {
    /// The number of subscribers of each user.
    private let counts = Locked<[String: Int]>([:])
    /// Called with each user whose first subscriber has entered or whose last one has left.
    private let changed = Locked<(@Sendable (String) -> Void)?>(nil)

    /// Calls `changed` with each user that has subscribers, and then returns. Later calls it with each user whose first
    /// subscriber enters or whose last one leaves.
    func observe(_ changed: @escaping @Sendable (String) -> Void) {
        self.changed.withLock { $0 = changed }
        for user in counts.withLock({ Array($0.keys) }) { changed(user) }
    }

    private func notifyObserver(_ user: String) {
        changed.withLock { $0 }?(user)
    }

    var isEmpty: Bool { counts.withLock { $0.isEmpty } }

    /// Adds a subscriber. Must be called before the positions of its conversations are read, so that it misses no
    /// message.
    func enter(_ user: String) {
        let isFirst = counts.withLock { counts in
            counts[user, default: 0] += 1
            return counts[user] == 1
        }
        if isFirst { notifyObserver(user) }
    }

    func leave(_ user: String) {
        let isLast = counts.withLock { counts in
            guard let count = counts[user] else { return false }
            counts[user] = count > 1 ? count - 1 : nil
            return count == 1
        }
        if isLast { notifyObserver(user) }
    }

    func hasSubscriber(_ user: String) -> Bool { counts.withLock { $0[user] != nil } }

    /// Returns whether any of these users has a subscriber. Takes time proportional to the number of users.
    func hasSubscriber(among users: [Substring]) -> Bool {
        counts.withLock { counts in
            !counts.isEmpty && users.contains { counts[String($0)] != nil }
        }
    }
}
