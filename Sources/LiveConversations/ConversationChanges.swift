import FoundationEssentials
import Messaging
import Observability
import Postgres
import Rooms

/// What is published for those who take part in a conversation when it was made, or somebody came back or left.
struct ConversationChange: Message {
    let notice: ConversationNotice
    /// The conversation with its last message.
    let summary: ConversationPage
}

/// Tells those on this daemon of such changes, in the order in which the database tells of them. Hints: who misses one sees it in the list.
package actor ConversationChanges {
    /// Beyond, they are forgotten.
    private static let waitingLimit = 10_000

    private let store: ConversationStore
    private let log: Log
    private let audience: ConversationListeners
    private let publish: @Sendable (ConversationChange) -> Void
    private var waiting: [ConversationNotice] = []
    private var isReading = false

    init(
        store: ConversationStore, log: Log, audience: ConversationListeners,
        publish: @escaping @Sendable (ConversationChange) -> Void
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
                publish(
                    ConversationChange(notice: notice, summary: try await store.summary(of: notice.conversation)))
            } catch let error as PostgresError where !error.isUnavailable {
                log.error("a conversation can't be read", ["error": .string("\(error)")])
            } catch {}
        }
        isReading = false
    }
}
