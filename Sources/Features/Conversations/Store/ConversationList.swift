import Domain
package import FoundationEssentials

/// A page of a device's conversations, the latest first.
package struct ConversationList: Sendable, Hashable {
    package internal(set) var conversations: [Conversation] = []
    /// The position at which the next page starts. `nil` if this is the last page.
    package internal(set) var next: ConversationCursor?
}

/// A position in a device's list of conversations: a conversation, and the time of its last message. The position stays
/// valid if the conversation is used again or deleted.
///
///     9F21…:1795341600000000
package struct ConversationCursor: Sendable, Hashable, CustomStringConvertible {
    package let conversation: UUID
    /// The time of the last message in epoch microseconds. `nil` if the database must read it.
    package let usedAt: Int?

    package init(conversation: UUID, usedAt: Int? = nil) {
        self.conversation = conversation
        self.usedAt = usedAt
    }

    /// Reads a position.
    ///
    /// - Parameter text: A conversation's UUID, or a ``description``.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let conversation = UUID(text: String(parts[0])) else { return nil }
        guard parts.count > 1 else {
            self.init(conversation: conversation)
            return
        }
        guard let usedAt = Int(parts[1]) else { return nil }
        self.init(conversation: conversation, usedAt: usedAt)
    }

    package var description: String { conversation.text + (usedAt.map { ":\($0)" } ?? "") }
}
