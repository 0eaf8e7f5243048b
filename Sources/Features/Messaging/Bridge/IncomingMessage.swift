package import Domain
package import FoundationEssentials
import Postgres

/// What somebody has said to these by a broker.
package struct IncomingMessage: Sendable, Hashable {
    package let id: UUID
    package let content: String
    package let author: UserName
    /// `nil`: the one of exactly these participants.
    package let conversation: UUID?
    /// With the author among them.
    package let participants: [UserName]

    /// Throws `invalid_request`, naming the member.
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
    /// Stores it, unless that has been done: in its conversation, if that is theirs who take part; else in that of the two, or in a new one.
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
