package import FoundationEssentials
import Rooms

/// A notification to daemons about a reaction that was added or removed: `<conversation> reaction <user> <names>
/// <offset> <message> <added or removed> <emoji>`. The notification uses the channel of ``ConversationNotice``, whose
/// payload has four fields. A build that doesn't know reactions ignores it.
package struct ReactionNotice: Sendable, Hashable {
    package let conversation: UUID
    package let user: String
    /// The names of the current participants, separated by dots.
    package let routingKey: String
    /// The message's offset in the conversation.
    package let offset: Int
    package let message: UUID
    package let isAdded: Bool
    package let emoji: String

    /// Returns `nil` if the payload isn't such a notice. Anyone with access to the database can send one.
    package init?(_ payload: String) {
        let fields = payload.split(separator: " ", omittingEmptySubsequences: false)
        guard fields.count == 8, fields[1] == "reaction", let conversation = UUID(uuidString: String(fields[0])),
            let offset = Int(fields[4]), offset > 0, let message = UUID(uuidString: String(fields[5])),
            ["added", "removed"].contains(fields[6]), let emoji = try? Emoji(String(fields[7]))
        else { return nil }
        self.conversation = conversation
        user = String(fields[2])
        routingKey = String(fields[3])
        self.offset = offset
        self.message = message
        isAdded = fields[6] == "added"
        self.emoji = emoji.text
    }
}

/// A change of a message's reactions, published to the participants of its conversation. The change is a hint: a client
/// that misses it sees the reactions when it reads the message.
struct ReactionPublication: Message {
    let notice: ReactionNotice
}
