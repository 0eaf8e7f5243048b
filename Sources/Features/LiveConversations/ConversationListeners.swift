import Basics

/// Whose conversations somebody on this daemon hears: what goes to nobody here needs not be read. Any thread.
package final class ConversationListeners: Sendable {
    /// How many listen for each user.
    private let counts = Locked<[String: Int]>([:])
    /// Told of each user for whom the first has come, or the last has gone.
    private let changed = Locked<(@Sendable (String) -> Void)?>(nil)

    /// From now on `changed` is told of each user for whom the first comes, or the last goes; and of those who are here.
    func observe(_ changed: @escaping @Sendable (String) -> Void) {
        self.changed.withLock { $0 = changed }
        for user in counts.withLock({ Array($0.keys) }) { changed(user) }
    }

    private func tell(_ user: String) {
        changed.withLock { $0 }?(user)
    }

    var isEmpty: Bool { counts.withLock { $0.isEmpty } }

    /// Before it is looked up where the user's conversations stand: from then on it is told what comes.
    func enter(_ user: String) {
        let isFirst = counts.withLock { counts in
            counts[user, default: 0] += 1
            return counts[user] == 1
        }
        if isFirst { tell(user) }
    }

    func leave(_ user: String) {
        let isLast = counts.withLock { counts in
            guard let count = counts[user] else { return false }
            counts[user] = count > 1 ? count - 1 : nil
            return count == 1
        }
        if isLast { tell(user) }
    }

    func hears(_ user: String) -> Bool { counts.withLock { $0[user] != nil } }

    /// Whether one of these is listened for. O(users).
    func hears(_ users: [Substring]) -> Bool {
        counts.withLock { counts in
            !counts.isEmpty && users.contains { counts[String($0)] != nil }
        }
    }
}
