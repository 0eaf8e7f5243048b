import Access
package import Messaging

/// What a subscriber says: one command after the other.
extension ConversationSubscriber {
    /// Whoever lets it speak has let its device pay.
    package func received(_ command: ConversationCommand) {
        guard waiting.count < SocketLimits.waitingMessages else { return sink.end(.tooFast) }
        waiting.append(command)
        if waiting.count == 1 { begin(command) }
    }

    private func begin(_ command: ConversationCommand) {
        switch command {
        case .history: awaitTurn(.history)
        case .send(let message, let ref)
        where (try? member.check(message.target)) != nil && !sink.admits(messages: message.target.count):
            done(shard.conversations.responder.refusal(ref: ref))
        case .send, .refused: shard.perform(command, for: self)
        }
    }

    /// What it said first is done.
    func done(_ event: ConversationEvent) {
        sink.send(event)
        if turns.first == .history, case .history? = waiting.first {
            // The next one once the peer has that: whoever asks for many pages at once is no slow reader.
            reportDrain()
        } else {
            beginNext()
        }
    }

    func beginNext() {
        if !waiting.isEmpty { waiting.removeFirst() }
        if let next = waiting.first { begin(next) }
    }

    /// What of that it said before isn't told anew: of a repeat it would hear nothing.
    package func isPast(_ message: ConversationMessage) -> Bool {
        switch state {
        case .opening: message.offset <= after[message.conversation] ?? (othersAreNew ? 0 : .max)
        case .hearing(let progress, _): progress.isPast(message)
        }
    }
}
