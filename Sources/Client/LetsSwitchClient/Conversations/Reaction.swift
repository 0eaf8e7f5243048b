#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The reactions to a message with the same emoji.
///
/// ```swift
/// for reaction in message.reactions { print(reaction.emoji, reaction.count) }
/// ```
public struct Reaction: Sendable, Hashable, Codable {
    /// The emoji: `reaction.emoji` is `"🎉"`
    public let emoji: String
    /// The number of people who reacted with this emoji: `reaction.count`
    public let count: Int
    /// The names of the first 20 of these people: `reaction.users.contains("ada")`
    public let users: [String]

    private enum CodingKeys: String, CodingKey { case emoji, count, users }

    /// Decodes the server's JSON, from any transport: `try JSONDecoder().decode(Reaction.self, from: data)`
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        emoji = try members.decode(String.self, forKey: .emoji)
        count = try members.decode(Int.self, forKey: .count)
        users = try members.decode([String].self, forKey: .users)
    }

    /// Encodes the reaction in the server's format: `try JSONEncoder().encode(reaction)`
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(emoji, forKey: .emoji)
        try members.encode(count, forKey: .count)
        try members.encode(users, forKey: .users)
    }
}

/// A person has added or removed a reaction. The change isn't sent again after a lost connection. To see all reactions,
/// read the message again: ``Message/reactions`` contains them.
///
/// ```swift
/// if case .reaction(let change) = event, change.isAdded { print(change.user, change.emoji) }
/// ```
public struct ReactionChange: Sendable, Hashable, Decodable {
    /// The conversation of the message: `change.conversation`
    public let conversation: UUID
    /// The offset of the message: `messages.first { $0.offset == change.offset }`
    public let offset: Int
    /// The id of the message: `messages.first { $0.id == change.messageID }`
    public let messageID: UUID
    /// The name of the person who has reacted: `change.user`
    public let user: String
    /// The emoji: `change.emoji` is `"🎉"`
    public let emoji: String
    /// Whether the reaction was added, and not removed: `if change.isAdded { show(change.emoji) }`
    public let isAdded: Bool

    private enum CodingKeys: String, CodingKey {
        case conversation, offset, user, emoji
        case messageID = "messageId"
        case isAdded = "added"
    }

    /// Decodes the server's JSON, from any transport: `try JSONDecoder().decode(ReactionChange.self, from: data)`
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        conversation = try members.decode(UUID.self, forKey: .conversation)
        offset = try members.decode(Int.self, forKey: .offset)
        messageID = try members.decode(UUID.self, forKey: .messageID)
        user = try members.decode(String.self, forKey: .user)
        emoji = try members.decode(String.self, forKey: .emoji)
        isAdded = try members.decode(Bool.self, forKey: .isAdded)
    }
}

extension Conversations {
    private struct Body: Encodable {
        let deviceId: String
        let emoji: String
    }

    /// Reacts to a message with an emoji. A repeated reaction has no effect. A message can have up to 20 different
    /// emoji, and up to 5 of one person.
    ///
    /// ```swift
    /// let message = try await client.conversations.react(to: message, with: "🎉")
    /// ```
    ///
    /// - Returns: The message with its reactions.
    /// - Throws: ``ClientError``, such as a ``ClientError/refused(_:)`` with `too_many_reactions`.
    @discardableResult
    public func react(to message: Message, with emoji: String) async throws -> Message {
        let body = Body(deviceId: requests.deviceID, emoji: emoji)
        return try await requests.post(target(message), body).decoded(as: "message")
    }

    /// Removes this device's reaction with an emoji. Removing it again has no effect.
    ///
    /// ```swift
    /// try await client.conversations.removeReaction("🎉", from: message)
    /// ```
    ///
    /// - Returns: The message with the other reactions.
    /// - Throws: ``ClientError``, such as a ``ClientError/refused(_:)`` with `no_such_message`.
    @discardableResult
    public func removeReaction(_ emoji: String, from message: Message) async throws -> Message {
        let query = "\(requests.identity)&emoji=\(escaped(emoji))"
        return try await requests.delete("\(target(message))?\(query)").decoded(as: "message")
    }

    private func target(_ message: Message) -> String {
        "/conversations/\(message.conversation.uuidString)/messages/\(message.id.uuidString)/reactions"
    }
}
