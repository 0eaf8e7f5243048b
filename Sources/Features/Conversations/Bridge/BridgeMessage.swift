import AMQP
import Domain
import FoundationEssentials
import Wire

/// A message of a conversation in the format of the broker's clients:
///
/// ```
///     routing key   user1.user3                            the participants
///     message_id    the id                                 the same on every repeat
///     app_id        letsswitch                             for messages from this server
///     body          {"id","content","author","date","conversation"}
/// ```
///
/// `date` is in seconds from 2001, Swift's default encoding of dates. Clients may leave out `id`, `date` and
/// `conversation`.
enum BridgeMessage {
    /// The reference date of Swift's coding of dates: 2001-01-01T00:00:00Z, in epoch seconds.
    private static let referenceDate = 978_307_200
    /// The maximum size of a body in bytes. It is far more than any escaped content needs.
    static let longestBody = 65_536

    static func outgoing(_ content: BridgeStore.Outgoing.Content) -> AMQPMessage {
        let message = content.message
        var json = JSONText()
        json.object { object in
            object.member("id", message.id.text)
            object.member("content", message.content)
            object.member("author", message.author)
            object.member("date", message.date.seconds - referenceDate)
            object.member("conversation", message.conversation.text)
        }
        return AMQPMessage(
            to: BridgeTopology.exchange.name, key: content.routingKey, json.bytes,
            properties: AMQPProperties(
                contentType: "application/json", messageID: message.id.text, appID: BridgeTopology.appID,
                // The message survives a restart of the broker, if the client's queue does.
                isPersistent: true))
    }

    /// The action for a received message.
    enum Verdict: Equatable {
        /// This server sent the message, so it is already stored.
        case own
        case store(IncomingMessage)
        case reject(RejectionReason)
    }

    static func verdict(_ delivery: AMQPDelivery) -> Verdict {
        verdict(appID: delivery.properties.appID, routingKey: delivery.routingKey, body: delivery.body)
    }

    /// Returns the action for a received message.
    ///
    /// - Parameter body: The message's body. `nil` if it was too long.
    static func verdict(appID: String?, routingKey: String, body: [UInt8]?) -> Verdict {
        guard appID != BridgeTopology.appID else { return .own }
        // The names of users have no other characters, so the key names a user that can't exist.
        guard let participants = try? participants(of: routingKey) else { return .reject(.routingKey) }
        guard let body, let members = try? RequestFields.decode(Members.self, from: body),
            let id = members.id.map(UUID.init(text:)) ?? UUID()
        else { return .reject(.malformed) }
        guard let author = participants.first(where: { $0.text == members.author }) else { return .reject(.author) }
        do {
            return .store(
                try IncomingMessage(
                    id: id, content: members.content, author: author, conversation: members.conversation,
                    participants: participants))
        } catch {
            return .reject(.malformed)
        }
    }

    private static func participants(of routingKey: String) throws -> [UserName] {
        try routingKey.split(separator: ".", omittingEmptySubsequences: false).map { try UserName(String($0)) }
    }

    /// The fields that are read. Others are ignored, including `date`, because the stored date is the time of storing.
    private struct Members: Decodable {
        let id: String?
        let content: String
        let author: String
        /// The conversation. `nil` if the id is missing or belongs to another system, such as Firestore. The routing
        /// key then decides.
        let conversation: UUID?

        init(from decoder: any Decoder) throws {
            let fields = try RequestFields(decoder)
            id = try fields.optionalText("id")
            content = try fields.text("content")
            author = try fields.text("author")
            conversation = try fields.optionalText("conversation").flatMap(UUID.init(text:))
        }
    }
}

/// The reason why a received message isn't stored.
enum RejectionReason: String, Sendable, CaseIterable {
    /// A word of the routing key can't be a user's name.
    case routingKey = "routing_key"
    /// The author isn't a participant.
    case author
    /// The message is malformed or empty.
    case malformed
    /// A participant isn't a user, or the message breaks a rule of conversations. The rules concern other participants,
    /// another message with this id, and blocks.
    case refused
    /// The storage limit is reached.
    case full
    /// The database can't store the message.
    case failed
}
