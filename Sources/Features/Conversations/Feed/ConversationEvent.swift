package import Domain
package import FoundationEssentials
package import Wire

/// An event for a subscriber of conversations: a type and its fields.
package enum ConversationEvent: Sendable {
    /// The maximum number of conversations in a handshake, the latest first.
    static let offsetsInHandshake = 200

    /// For a new subscriber: the user's id, and the positions of its conversations.
    case handshake(id: UUID, ConversationPositions)
    case message(ConversationMessage, routingKey: String)
    /// A participant has left. `participants` are the remaining ones.
    case left(conversation: UUID, user: String, participants: [String])
    /// A participant has added or removed a reaction.
    case reaction(ReactionNotice)
    /// The names of the present participants.
    case presence(conversation: UUID, users: [String])
    /// For the sender: the message is stored.
    case sent(ref: String?, ConversationStore.Sent)
    /// For the user who has reacted: the message with its reactions.
    case reacted(ref: String?, ConversationMessage)
    case history(ref: String?, ConversationPage)
    case error(ref: String?, RequestError)

    package var type: String {
        switch self {
        case .handshake: "handshake"
        case .message: "message"
        case .left: "left"
        case .reaction: "reaction"
        case .presence: "presence"
        case .sent: "sent"
        case .reacted: "reacted"
        case .history: "history"
        case .error: "error"
        }
    }

    /// Writes the fields into a JSON object.
    package func writeMembers(to json: inout JSONText) {
        switch self {
        case .handshake(let id, let positions):
            json.member("id", id.text)
            json.member("user", positions.user)
            json.member("binding", "#.\(positions.user).#")
            json.name("offsets")
            json.object { object in
                for position in positions.offsets.prefix(Self.offsetsInHandshake) {
                    object.member(position.conversation.text, position.lastOffset)
                }
            }
        case .message(let message, let routingKey):
            json.member("routingKey", routingKey)
            json.name("message")
            message.write(to: &json)
        case .left(let conversation, let user, let participants):
            json.member("conversation", conversation.text)
            json.member("user", user)
            json.name("participants")
            json.array { array in
                for participant in participants { array.string(participant) }
            }
        case .reaction(let reaction):
            json.member("conversation", reaction.conversation.text)
            json.member("offset", reaction.offset)
            json.member("messageId", reaction.message.text)
            json.member("user", reaction.user)
            json.member("emoji", reaction.emoji)
            json.member("added", reaction.isAdded)
        case .presence(let conversation, let users):
            json.member("conversation", conversation.text)
            json.member("count", users.count)
            json.name("users")
            json.array { array in
                for user in users { array.string(user) }
            }
        case .sent(let ref, let sent):
            json.member("ref", ref)
            json.name("ids")
            json.array { array in
                for message in sent.messages { array.string(message.id.text) }
            }
        case .reacted(let ref, let message):
            json.member("ref", ref)
            json.name("message")
            message.write(to: &json)
        case .history(let ref, let page):
            json.member("ref", ref)
            page.writeMembers(to: &json)
        case .error(let ref, let error):
            json.member("ref", ref)
            json.member("code", error.code)
            json.member("reason", error.reason)
        }
    }

    /// The WebSocket message: `{"type":…,…}`. Presence has the same form in all features:
    /// `{"type":"presence","data":{…}}`.
    var payload: [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("type", type)
            if case .presence = self {
                object.name("data")
                object.object { writeMembers(to: &$0) }
            } else {
                writeMembers(to: &object)
            }
        }
        return json.bytes
    }
}
