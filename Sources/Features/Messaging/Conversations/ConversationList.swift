import Domain
package import FoundationEssentials

/// Conversations of a device, the latest first: a page of them.
package struct ConversationList: Sendable, Hashable {
    package internal(set) var conversations: [Conversation] = []
    /// Where the next page begins; `nil`: there is none.
    package internal(set) var next: ConversationCursor?
}

/// A place in a device's conversations: one of them, and when something was said last in it. So it stays where it is when that one is used
/// again, or gone.
///
///     9F21…:1795341600000000
package struct ConversationCursor: Sendable, Hashable, CustomStringConvertible {
    package let conversation: UUID
    /// In microseconds since 1970; `nil`: when that is now.
    package let usedAt: Int?

    package init(conversation: UUID, usedAt: Int? = nil) {
        self.conversation = conversation
        self.usedAt = usedAt
    }

    /// - Parameter text: A conversation's UUID, or what ``description`` is.
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
