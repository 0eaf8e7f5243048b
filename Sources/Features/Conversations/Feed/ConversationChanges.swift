import Domain
import FoundationEssentials
import Observability
import Postgres
import Rooms

/// A change of a conversation for its participants: it was created, or a participant returned or left.
struct ConversationChange: Message {
    let notice: ConversationNotice
    /// The conversation with its last message. A participant that has left receives only the last message before it
    /// left.
    let summary: ConversationPage
}

/// Publishes changes of conversations and reactions on this daemon, in the order of the database's notifications.
/// Changes are hints: a client that misses one sees the change in its list.
package actor ConversationChanges {
    /// The maximum number of waiting changes. Further changes are dropped.
    private static let waitingLimit = 10_000

    private let store: ConversationStore
    private let log: Log
    private let audience: ConnectedUsers
    private let publish: @Sendable (ConversationChange, [Substring]) -> Void
    private let publishReaction: @Sendable (ReactionPublication, [Substring]) -> Void
    private var waiting: [ConversationNotice] = []
    private var isReading = false

    /// - Parameters:
    ///   - publish: Publishes a change to users.
    ///   - reaction: Publishes a reaction to users.
    init(
        store: ConversationStore, log: Log, audience: ConnectedUsers,
        publish: @escaping @Sendable (ConversationChange, [Substring]) -> Void,
        reaction: @escaping @Sendable (ReactionPublication, [Substring]) -> Void = { _, _ in }
    ) {
        self.store = store
        self.log = log
        self.audience = audience
        self.publish = publish
        publishReaction = reaction
    }

    /// Handles the payload of a notification.
    package func receive(_ payload: String) {
        if let reaction = ReactionNotice(payload) { return publish(reaction) }
        guard let notice = ConversationNotice(payload), audience.hasSubscriber(among: notice.audience),
            waiting.count < Self.waitingLimit
        else { return }
        waiting.append(notice)
        guard !isReading else { return }
        isReading = true
        Task { await readOn() }
    }

    /// Publishes a reaction without a query. A user that leaves at this moment may still receive it.
    private func publish(_ reaction: ReactionNotice) {
        let users = reaction.routingKey.split(separator: ".")
        if audience.hasSubscriber(among: users) { publishReaction(ReactionPublication(notice: reaction), users) }
    }

    private func readOn() async {
        while !waiting.isEmpty {
            let notice = waiting.removeFirst()
            do {
                try await publishChange(notice)
            } catch let error as PostgresError where !error.isUnavailable {
                log.error("failed to read a conversation", ["error": .string("\(error)")])
            } catch {}
        }
        isReading = false
    }

    private func publishChange(_ notice: ConversationNotice) async throws {
        let summary = try await store.summary(of: notice.conversation)
        // The conversation was read later than it changed. Users that have left must not receive newer messages.
        let inside = Set(summary.participants)
        publish(
            ConversationChange(notice: notice, summary: summary),
            notice.audience.filter { inside.contains(String($0)) })
        guard case .left(let user) = notice.change, !inside.contains(user), audience.hasSubscriber(user) else { return }
        let last = try await store.summary(of: notice.conversation, for: user)
        publish(ConversationChange(notice: notice, summary: last), [user[...]])
    }
}
