import FoundationEssentials
import Messaging
import Observability
import Postgres
import Rooms

/// What is published for those who take part in a conversation when it was made, or somebody came back or left.
struct ConversationChange: Message {
    let notice: ConversationNotice
    /// The conversation with its last message: for who has left, the last one that it may read.
    let summary: ConversationPage
}

/// Tells those on this daemon of such changes, in the order in which the database tells of them. Hints: who misses one sees it in the list.
package actor ConversationChanges {
    /// Beyond, they are forgotten.
    private static let waitingLimit = 10_000

    private let store: ConversationStore
    private let log: Log
    private let audience: ConversationListeners
    private let publish: @Sendable (ConversationChange, [Substring]) -> Void
    private var waiting: [ConversationNotice] = []
    private var isReading = false

    /// - Parameter publish: Tells these users.
    init(
        store: ConversationStore, log: Log, audience: ConversationListeners,
        publish: @escaping @Sendable (ConversationChange, [Substring]) -> Void
    ) {
        self.store = store
        self.log = log
        self.audience = audience
        self.publish = publish
    }

    /// The payload of a notification.
    package func receive(_ payload: String) {
        guard let notice = ConversationNotice(payload), audience.hears(notice.audience),
            waiting.count < Self.waitingLimit
        else { return }
        waiting.append(notice)
        guard !isReading else { return }
        isReading = true
        Task { await readOn() }
    }

    private func readOn() async {
        while !waiting.isEmpty {
            let notice = waiting.removeFirst()
            do {
                try await tell(notice)
            } catch let error as PostgresError where !error.isUnavailable {
                log.error("failed to read a conversation", ["error": .string("\(error)")])
            } catch {}
        }
        isReading = false
    }

    private func tell(_ notice: ConversationNotice) async throws {
        let summary = try await store.summary(of: notice.conversation)
        // It is looked up later than it changed: what is said meanwhile is none of theirs who have left.
        let inside = Set(summary.participants)
        publish(
            ConversationChange(notice: notice, summary: summary),
            notice.audience.filter { inside.contains(String($0)) })
        guard case .left(let user) = notice.change, !inside.contains(user), audience.hears(user) else { return }
        let last = try await store.summary(of: notice.conversation, for: user)
        publish(ConversationChange(notice: notice, summary: last), [user[...]])
    }
}
