import Domain
import Observability

/// Performs the commands of participants: stores messages and publishes them, or refuses them. Any thread may use it.
package struct ConversationResponder: Sendable {
    private let store: ConversationStore
    private let feeds: ConversationFeeds
    private let metrics: ConversationMetrics
    private let log: Log

    init(store: ConversationStore, feeds: ConversationFeeds, metrics: ConversationMetrics, log: Log) {
        self.store = store
        self.feeds = feeds
        self.metrics = metrics
        self.log = log
    }

    /// Stores a message and publishes it to the participants.
    func send(_ message: OutgoingMessage, by member: ConversationMember) async throws -> ConversationStore.Sent {
        do {
            try member.check(message.target)
            let sent = try await store.send(message, by: member.device)
            for entry in sent.entries {
                metrics.messages.add(entry.isNew ? .stored : .repeated)
                // A repeated message was already published.
                if entry.isNew { await feeds.stored(entry.page) }
            }
            return sent
        } catch {
            metrics.messages.add(.refused)
            throw error
        }
    }

    /// Stores a message from a broker and publishes it to the participants.
    ///
    /// - Returns: Whether the message is new.
    package func receive(_ message: IncomingMessage) async throws -> Bool {
        let entries = try await store.receive(message).entries.filter(\.isNew)
        for entry in entries { await feeds.stored(entry.page) }
        return !entries.isEmpty
    }

    /// Adds or removes a reaction. The database's notification publishes it.
    func react(_ request: ReactionRequest, by member: ConversationMember) async throws -> ConversationStore.Reacted {
        try member.check(request.conversation)
        return try await store.react(request, by: member.device)
    }

    /// Performs a subscriber's command.
    ///
    /// - Returns: The event for the subscriber.
    func perform(_ command: ConversationCommand, for member: ConversationMember) async -> ConversationEvent {
        switch command {
        case .refused(let error, let ref): return .error(ref: ref, error)
        case .send(let message, let ref):
            do {
                return .sent(ref: ref, try await send(message, by: member))
            } catch {
                return .error(ref: ref, refusal(error))
            }
        case .history(let conversation, let after, let limit, let ref):
            do {
                try member.check(conversation)
                return .history(
                    ref: ref,
                    try await store.messages(in: conversation, .after(after), limit: limit, for: member.device))
            } catch {
                return .error(ref: ref, refusal(error))
            }
        case .react(let request, let ref):
            do {
                return .reacted(ref: ref, try await react(request, by: member).message)
            } catch {
                return .error(ref: ref, refusal(error))
            }
        }
    }

    /// Returns the answer to a message from an address that has reached its daily limit.
    func refusal(ref: String?) -> ConversationEvent {
        metrics.messages.add(.refused)
        return reactionRefusal(ref: ref)
    }

    /// Returns the answer to a reaction from an address that has reached its daily limit. The reaction doesn't count as
    /// a refused message.
    func reactionRefusal(ref: String?) -> ConversationEvent {
        .error(ref: ref, refusal(RequestError.tooManyMessages(retryAfter: nil)))
    }

    private func refusal(_ error: any Error) -> RequestError {
        if let refusal = RequestError(answering: error) {
            if let quota = refusal.quota { metrics.quotas.add(quota) }
            return refusal
        }
        log.error("failed to process a message", ["error": .string("\(error)")])
        return .internalError
    }
}
