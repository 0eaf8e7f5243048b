import Access
import Domain

/// The commands of a subscriber, which are performed one after the other.
extension ConversationSubscriber {
    /// Adds a command. The caller must have checked the device's message rate.
    package func received(_ command: ConversationCommand) {
        guard waiting.count < SocketLimits.waitingMessages else { return transport.end(.tooFast) }
        waiting.append(command)
        if waiting.count == 1 { begin(command) }
    }

    private func begin(_ command: ConversationCommand) {
        switch command {
        case .history: awaitTurn(.history)
        case .send(let message, let ref)
        where (try? member.check(message.target)) != nil && !transport.admits(messages: message.target.count):
            done(shard.conversations.responder.refusal(ref: ref))
        case .react(let reaction, let ref) where member.allows(reaction.conversation) && !transport.admits(messages: 1):
            done(shard.conversations.responder.reactionRefusal(ref: ref))
        case .send, .react, .refused: shard.perform(command, for: self)
        }
    }

    /// Sends the answer to the first waiting command, and begins the next one.
    func done(_ event: ConversationEvent) {
        transport.send(event)
        if turns.first == .history, case .history? = waiting.first {
            // The next command begins when the peer has received this page. So a peer that requests many pages without
            // waiting isn't treated as a slow reader.
            reportDrain()
        } else {
            beginNext()
        }
    }

    func beginNext() {
        if !waiting.isEmpty { waiting.removeFirst() }
        if let next = waiting.first { begin(next) }
    }

    /// Returns whether the subscriber has already received the message. Such a message isn't sent again.
    package func isPast(_ message: ConversationMessage) -> Bool {
        switch state {
        case .opening: message.offset <= after[message.conversation] ?? (othersAreNew ? 0 : .max)
        case .receiving(let progress, _): progress.isPast(message)
        }
    }
}
