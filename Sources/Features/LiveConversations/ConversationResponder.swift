import Domain
package import Messaging
import Observability

/// What becomes of what somebody says in conversations: it is stored, and those are told who take part; or refused. May be used from
/// anywhere.
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

    /// Says something, and has those told who take part.
    func send(_ message: OutgoingMessage, by member: ConversationMember) async throws -> ConversationStore.Sent {
        do {
            try member.check(message.target)
            let sent = try await store.send(message, by: member.device)
            for entry in sent.entries {
                metrics.messages.add(entry.isNew ? .stored : .repeated)
                // Of a repeat all have heard.
                if entry.isNew { await feeds.stored(entry.page) }
            }
            return sent
        } catch {
            metrics.messages.add(.refused)
            throw error
        }
    }

    /// Stores what somebody has said by a broker, and has those told who take part.
    ///
    /// - Returns: Whether it is new.
    package func receive(_ message: IncomingMessage) async throws -> Bool {
        let entries = try await store.receive(message).entries.filter(\.isNew)
        for entry in entries { await feeds.stored(entry.page) }
        return !entries.isEmpty
    }

    /// Does what somebody who hears conversations asks for.
    ///
    /// - Returns: What it is to be told.
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
        }
    }

    /// What somebody is told whose address has said as much as may be kept.
    func refusal(ref: String?) -> ConversationEvent {
        metrics.messages.add(.refused)
        return .error(ref: ref, refusal(RequestError.tooManyMessages(retryAfter: nil)))
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
