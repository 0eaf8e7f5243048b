#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What somebody has said in a conversation.
///
/// ```swift
/// print("\(message.author): \(message.content)")
/// ```
public struct Message: Sendable, Hashable, Codable {
    /// The message's own: `seen.insert(message.id)`
    public let id: UUID
    /// What was said; empty once its author was erased: `message.content`
    public let content: String
    /// The name of who said it; empty once that one was erased: `message.author`
    public let author: String
    /// When: `message.date`
    public let date: Date
    /// Where: `message.conversation`
    public let conversation: UUID
    /// 1, 2, 3 … in its conversation: `history(of: id, after: message.offset)`
    public let offset: Int

    private enum CodingKeys: String, CodingKey { case id, content, author, date, conversation, offset }

    /// Reads what the server says, on whatever way it came: `try JSONDecoder().decode(Message.self, from: data)`
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(UUID.self, forKey: .id)
        content = try members.decode(String.self, forKey: .content)
        author = try members.decode(String.self, forKey: .author)
        date = try members.decode(WireDate.self, forKey: .date).date
        conversation = try members.decode(UUID.self, forKey: .conversation)
        offset = try members.decode(Int.self, forKey: .offset)
    }

    /// Writes what the server would say: `try JSONEncoder().encode(message)`
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encode(content, forKey: .content)
        try members.encode(author, forKey: .author)
        try members.encode(WireDate.text(date), forKey: .date)
        try members.encode(conversation, forKey: .conversation)
        try members.encode(offset, forKey: .offset)
    }
}

/// A conversation, as this device sees it.
///
/// ```swift
/// for conversation in try await client.conversations.list().conversations { print(conversation.name) }
/// ```
public struct Conversation: Sendable, Hashable, Decodable {
    /// The conversation's own: `conversations.say("Tea?", in: conversation.id)`
    public let id: UUID
    /// Its participants in order, with commas between them: `conversation.name` is `"ada,bob"`
    public let name: String
    /// Who is in it, oneself too: `conversation.participants.count`
    public let participants: [String]
    /// The offset of what was said last: `conversation.lastOffset`
    public let lastOffset: Int
    /// What was said last; `nil` before that: `conversation.lastMessage?.content`
    public let lastMessage: Message?
    /// Up to which one has read: `conversation.lastOffset - conversation.readOffset`
    public let readOffset: Int
    /// Whether nobody is to be told of it: `if !conversation.isMuted { notify() }`
    public let isMuted: Bool

    private enum CodingKeys: String, CodingKey {
        case id, name, participants, lastOffset, lastMessage, readOffset
        case isMuted = "muted"
    }

    /// Reads what the server says, on whatever way it came: `try JSONDecoder().decode(Conversation.self, from: data)`
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

/// Messages that follow one another: `page.messages.last?.offset`
public struct MessagePage: Sendable, Hashable {
    /// In order, a hundred at most: `page.messages`
    public let messages: [Message]
    /// Where the conversation stands: `page.messages.last?.offset == page.lastOffset`
    public let lastOffset: Int
    /// The server's own text.
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
    /// A hundred at most: `list.conversations.first?.name`
    public let conversations: [Conversation]
    /// From where on there are more; `nil` at the end: `conversations.list(before: list.next)`
    public let next: String?
    /// The server's own text.
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
