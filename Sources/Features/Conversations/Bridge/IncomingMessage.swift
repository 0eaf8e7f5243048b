package import Domain
package import FoundationEssentials
import Postgres

/// A message that a user sent through the broker.
package struct IncomingMessage: Sendable, Hashable {
    package let id: UUID
    package let content: String
    package let author: UserName
    /// The conversation. `nil` for the conversation of exactly these participants.
    package let conversation: UUID?
    /// The participants, including the author.
    package let participants: [UserName]

    /// Throws `invalid_request` with the name of the invalid field.
    package init(
        id: UUID, content: String, author: UserName, conversation: UUID?, participants: [UserName]
    ) throws(RequestError) {
        self.id = id
        self.content = try OutgoingMessage.check(content)
        self.author = author
        self.conversation = conversation
        self.participants = participants
    }
}

extension ConversationStore {
    /// Stores the message, unless it is already stored. If ``IncomingMessage/conversation`` exists, its participants
    /// must be those of the message. If it doesn't exist or is `nil`, the message goes to the conversation of the two
    /// users, or to a new one.
    package func receive(_ message: IncomingMessage) async throws -> Sent {
        try await writer.store(
            Statement.receive,
            [
                .text(message.author.text), message.conversation.map { .text($0.text) } ?? .null,
                .text(message.id.text),
                .text(message.content), .textArray(message.participants.map(\.text)),
            ])
    }
}
