package import FoundationEssentials

/// What daemons are told of a message that is stored: `<conversation> <offset> <origin> <names>`.
package struct MessageNotice: Sendable, Hashable {
    package let conversation: UUID
    package let offset: Int
    /// Which daemon has stored it, see ``ConversationStore/origin``.
    package let origin: String
    /// The names of those who are to hear it, with dots between them.
    package let routingKey: String

    /// Nil for what is none: whoever may use the database can send one.
    package init?(_ payload: String) {
        let words = payload.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, let conversation = UUID(uuidString: String(words[0])), let offset = Int(words[1]),
            offset > 0
        else { return nil }
        self.conversation = conversation
        self.offset = offset
        origin = String(words[2])
        routingKey = String(words[3])
    }
}

/// What daemons are told of a conversation that has changed otherwise: `<conversation> <change> <user, or -> <names>`.
package struct ConversationNotice: Sendable, Hashable {
    package enum Change: Sendable, Hashable {
        case made
        /// To a pair.
        case returned
        case left(user: String)
    }

    package let conversation: UUID
    package let change: Change
    /// The names of those who are inside now, with dots between them.
    package let routingKey: String

    /// Nil for what is none.
    package init?(_ payload: String) {
        let words = payload.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 4, let conversation = UUID(uuidString: String(words[0])) else { return nil }
        switch words[1] {
        case "made": change = .made
        case "returned": change = .returned
        case "left": change = .left(user: String(words[2]))
        default: return nil
        }
        self.conversation = conversation
        routingKey = String(words[3])
    }

    /// Those who are told: who is inside, and who has left.
    package var audience: [Substring] {
        let inside = routingKey.split(separator: ".")
        if case .left(let user) = change { return inside + [user[...]] }
        return inside
    }
}
