package import Domain
package import FoundationEssentials
import Postgres
package import Wire

/// A conversation as one of its participants sees it.
package struct Conversation: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        /// A conversation of two users. Two users have at most one.
        case person
        case group
    }

    package static let maximumParticipants = 64

    package let id: UUID
    package let kind: Kind
    /// The names of the participants in order, separated by commas.
    package let name: String
    package let lastOffset: Int
    package let lastMessage: ConversationMessage?
    /// The offset up to which the device has read.
    package let readOffset: Int
    package let isMuted: Bool

    package var participants: [String] { name.split(separator: ",").map(String.init) }

    package func write(to json: inout JSONText) {
        json.object { object in
            object.member("id", id.text)
            object.member("name", name)
            object.member("type", kind.rawValue)
            object.name("participants")
            object.array { array in
                for participant in participants { array.string(participant) }
            }
            object.member("lastOffset", lastOffset)
            if let lastMessage {
                object.name("lastMessage")
                lastMessage.write(to: &object)
            }
            object.member("readOffset", readOffset)
            object.member("muted", isMuted)
        }
    }

    package var json: [UInt8] {
        var json = JSONText()
        write(to: &json)
        return json.bytes
    }
}

/// A message in a conversation.
package struct ConversationMessage: Sendable, Hashable {
    package static let maximumScalars = SpeechLimits.scalars

    package let id: UUID
    /// The text. If the author was erased, the text and the author are empty.
    package let content: String
    package let author: String
    package let date: Instant
    package let conversation: UUID
    /// The message's number in its conversation: 1, 2, 3 …
    package let offset: Int
    /// The reactions, one for each emoji. Empty if they weren't read, as in new messages and in the list of
    /// conversations.
    package internal(set) var reactions: [Reaction] = []

    package init(id: UUID, content: String, author: String, date: Instant, conversation: UUID, offset: Int) {
        self.id = id
        self.content = content
        self.author = author
        self.date = date
        self.conversation = conversation
        self.offset = offset
    }

    package func write(to json: inout JSONText) {
        json.object { object in
            object.member("id", id.text)
            object.member("content", content)
            object.member("author", author)
            object.member("date", date.description)
            object.member("conversation", conversation.text)
            object.member("offset", offset)
            guard !reactions.isEmpty else { return }
            object.name("reactions")
            object.array { array in
                for reaction in reactions { reaction.write(to: &array) }
            }
        }
    }

    package var json: [UInt8] {
        var json = JSONText()
        write(to: &json)
        return json.bytes
    }
}

/// Consecutive messages of a conversation, with their recipients.
package struct ConversationPage: Sendable {
    /// The limits of a page: the number of messages, and the bytes of JSON. A page ends at the limit that is reached
    /// first.
    package static let maximumCount = SpeechLimits.pageEntries
    package static let maximumBytes = SpeechLimits.pageBytes

    package let conversation: UUID
    package let kind: Conversation.Kind
    package let messages: [ConversationMessage]
    package let lastOffset: Int
    /// The names of the participants in order, separated by dots.
    package let routingKey: String
    /// Distinguishes the conversation from an earlier one with the same id.
    package let epoch: String

    package init(
        conversation: UUID, kind: Conversation.Kind, messages: [ConversationMessage], lastOffset: Int,
        routingKey: String, epoch: String = ""
    ) {
        self.conversation = conversation
        self.kind = kind
        self.messages = messages
        self.lastOffset = lastOffset
        self.routingKey = routingKey
        self.epoch = epoch
    }

    /// Writes `"messages":[…],"lastOffset":…` into an object.
    package func writeMembers(to json: inout JSONText) {
        json.name("messages")
        json.array { array in
            for message in messages { message.write(to: &array) }
        }
        json.member("lastOffset", lastOffset)
    }

    /// The names of the participants, in order.
    package var participants: [String] { routingKey.split(separator: ".").map(String.init) }

    /// Writes the conversation as all participants see it, with the page's last message. Omits the fields of
    /// ``Conversation`` that belong to one user.
    package func writeSummary(to json: inout JSONText) {
        json.member("id", conversation.text)
        json.member("name", participants.joined(separator: ","))
        json.member("type", kind.rawValue)
        json.name("participants")
        json.array { array in
            for participant in participants { array.string(participant) }
        }
        json.member("lastOffset", messages.last?.offset ?? lastOffset)
        if let last = messages.last {
            json.name("lastMessage")
            last.write(to: &json)
        }
    }
}

extension Conversation.Kind {
    init(_ row: PostgresRow) throws {
        guard let kind = Self(rawValue: try row.string("kind")) else {
            throw PostgresError(kind: .decoding, message: "column kind is not a valid kind")
        }
        self = kind
    }
}

extension Conversation {
    init(_ row: PostgresRow) throws {
        self.init(
            id: try row.uuid("conversation_id"), kind: try Kind(row), name: try row.string("names"),
            lastOffset: try row.integer("last_number"),
            lastMessage: try row.isNull("number") ? nil : ConversationMessage(row),
            readOffset: try row.integer("read_number"), isMuted: try row.boolean("is_muted"))
    }
}

extension ConversationMessage {
    /// Reads a row.
    ///
    /// - Parameter conversation: The conversation, if the row doesn't contain it.
    init(_ row: PostgresRow, in conversation: UUID? = nil) throws {
        self.init(
            id: try row.uuid("id"), content: try row.optionalString("content") ?? "",
            author: try row.optionalString("author") ?? "", date: try row.instant("sent_at"),
            conversation: try conversation ?? row.uuid("conversation_id"), offset: try row.integer("number"))
    }
}
