import Basics

/// Whose conversations somebody on this daemon hears: what goes to nobody here needs not be read. Any thread.
final class ConversationAudience: Sendable {
    /// How many listen for each user.
    private let counts = Locked<[String: Int]>([:])

    var isEmpty: Bool { counts.withLock { $0.isEmpty } }

    /// Before it is looked up where the user's conversations stand: from then on it is told what comes.
    func enter(_ user: String) {
        counts.withLock { $0[user, default: 0] += 1 }
    }

    func leave(_ user: String) {
        counts.withLock { counts in
            guard let count = counts[user] else { return }
            counts[user] = count > 1 ? count - 1 : nil
        }
    }

    /// Whether one of these is listened for. O(users).
    func hears(_ users: [Substring]) -> Bool {
        counts.withLock { counts in
            !counts.isEmpty && users.contains { counts[String($0)] != nil }
        }
    }
}
