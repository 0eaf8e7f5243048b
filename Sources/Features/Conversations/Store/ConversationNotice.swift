package import FoundationEssentials

/// A notification to daemons about a stored message: `<conversation> <offset> <origin> <names>`.
package struct MessageNotice: Sendable, Hashable {
    package let conversation: UUID
    package let offset: Int
    /// The daemon that stored the message. See ``ConversationStore/origin``.
    package let origin: String
    /// The names of the recipients, separated by dots.
    package let routingKey: String

    /// Returns `nil` if the payload isn't such a notice. Anyone with access to the database can send one.
    package init?(_ payload: String) {
        let fields = payload.split(separator: " ", omittingEmptySubsequences: false)
        guard fields.count == 4, let conversation = UUID(uuidString: String(fields[0])), let offset = Int(fields[1]),
            offset > 0
        else { return nil }
        self.conversation = conversation
        self.offset = offset
        origin = String(fields[2])
        routingKey = String(fields[3])
    }
}

/// A notification to daemons about another change of a conversation: `<conversation> <change> <user, or -> <names>`.
package struct ConversationNotice: Sendable, Hashable {
    package enum Change: Sendable, Hashable {
        case made
        /// A user returned to a conversation of two.
        case returned
        case left(user: String)
    }

    package let conversation: UUID
    package let change: Change
    /// The names of the current participants, separated by dots.
    package let routingKey: String

    /// Returns `nil` if the payload isn't such a notice.
    package init?(_ payload: String) {
        let fields = payload.split(separator: " ", omittingEmptySubsequences: false)
        guard fields.count == 4, let conversation = UUID(uuidString: String(fields[0])) else { return nil }
        switch fields[1] {
        case "made": change = .made
        case "returned": change = .returned
        case "left": change = .left(user: String(fields[2]))
        default: return nil
        }
        self.conversation = conversation
        routingKey = String(fields[3])
    }

    /// The users to notify: the participants, and a user that has left.
    package var audience: [Substring] {
        let inside = routingKey.split(separator: ".")
        if case .left(let user) = change { return inside + [user[...]] }
        return inside
    }
}
