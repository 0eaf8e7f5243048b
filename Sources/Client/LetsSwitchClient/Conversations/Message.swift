#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A message in a conversation.
///
/// ```swift
/// print("\(message.author): \(message.content)")
/// ```
public struct Message: Sendable, Hashable, Codable {
    /// The message's id: `seen.insert(message.id)`
    public let id: UUID
    /// The text. It is empty if the author was erased: `message.content`
    public let content: String
    /// The author's name. It is empty if the author was erased: `message.author`
    public let author: String
    /// The time at which the server stored the message: `message.date`
    public let date: Date
    /// The message's conversation: `message.conversation`
    public let conversation: UUID
    /// The message's number in its conversation, counted from 1: `history(of: id, after: message.offset)`
    public let offset: Int
    /// The reactions by emoji. The list is empty in messages that come as events: `message.reactions.first?.emoji`
    public let reactions: [Reaction]

    private enum CodingKeys: String, CodingKey { case id, content, author, date, conversation, offset, reactions }

    /// Decodes the server's JSON, from any transport: `try JSONDecoder().decode(Message.self, from: data)`
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(UUID.self, forKey: .id)
        content = try members.decode(String.self, forKey: .content)
        author = try members.decode(String.self, forKey: .author)
        date = try members.decode(WireDate.self, forKey: .date).date
        conversation = try members.decode(UUID.self, forKey: .conversation)
        offset = try members.decode(Int.self, forKey: .offset)
        reactions = try members.decodeIfPresent([Reaction].self, forKey: .reactions) ?? []
    }

    /// Encodes the message in the server's format: `try JSONEncoder().encode(message)`
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encode(content, forKey: .content)
        try members.encode(author, forKey: .author)
        try members.encode(WireDate.text(date), forKey: .date)
        try members.encode(conversation, forKey: .conversation)
        try members.encode(offset, forKey: .offset)
        if !reactions.isEmpty { try members.encode(reactions, forKey: .reactions) }
    }
}

/// A conversation of this device.
///
/// ```swift
/// for conversation in try await client.conversations.list().conversations { print(conversation.name) }
/// ```
public struct Conversation: Sendable, Hashable, Decodable {
    /// The conversation's id: `conversations.send("Tea?", in: conversation.id)`
    public let id: UUID
    /// The participants' names in order, separated by commas: `conversation.name` is `"ada,bob"`
    public let name: String
    /// The participants' names, including this device's: `conversation.participants.count`
    public let participants: [String]
    /// The offset of the latest message: `conversation.lastOffset`
    public let lastOffset: Int
    /// The latest message, or `nil` if there is none: `conversation.lastMessage?.content`
    public let lastMessage: Message?
    /// The offset up to which this device has read: `conversation.lastOffset - conversation.readOffset`
    public let readOffset: Int
    /// Whether this device receives no notifications about the conversation: `if !conversation.isMuted { notify() }`
    public let isMuted: Bool

    private enum CodingKeys: String, CodingKey {
        case id, name, participants, lastOffset, lastMessage, readOffset
        case isMuted = "muted"
    }

    /// Decodes the server's JSON, from any transport: `try JSONDecoder().decode(Conversation.self, from: data)`
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(UUID.self, forKey: .id)
        name = try members.decode(String.self, forKey: .name)
        participants = try members.decode([String].self, forKey: .participants)
        lastOffset = try members.decode(Int.self, forKey: .lastOffset)
        lastMessage = try members.decodeIfPresent(Message.self, forKey: .lastMessage)
        readOffset = try members.decode(Int.self, forKey: .readOffset)
        isMuted = try members.decode(Bool.self, forKey: .isMuted)
    }
}

/// Consecutive messages of a conversation: `page.messages.last?.offset`
public struct MessagePage: Sendable, Hashable {
    /// At most 100 messages, in order: `page.messages`
    public let messages: [Message]
    /// The offset of the conversation's latest message: `page.messages.last?.offset == page.lastOffset`
    public let lastOffset: Int
    /// The JSON that the server sent.
    package let source: String

    private struct Body: Decodable {
        let messages: [Message]
        let lastOffset: Int
    }

    init(_ bytes: [UInt8]) throws(ClientError) {
        let body: Body = try bytes.decoded(as: "messages")
        messages = body.messages
        lastOffset = body.lastOffset
        source = String(decoding: bytes, as: UTF8.self)
    }
}

/// Conversations, the latest first: `list.conversations`
public struct ConversationList: Sendable, Hashable {
    /// At most 100 conversations: `list.conversations.first?.name`
    public let conversations: [Conversation]
    /// The position of the next list, or `nil` at the end: `conversations.list(before: list.next)`
    public let next: String?
    /// The JSON that the server sent.
    package let source: String

    private struct Body: Decodable {
        let conversations: [Conversation]
        let next: String?
    }

    init(_ bytes: [UInt8]) throws(ClientError) {
        let body: Body = try bytes.decoded(as: "conversations")
        conversations = body.conversations
        next = body.next
        source = String(decoding: bytes, as: UTF8.self)
    }
}
