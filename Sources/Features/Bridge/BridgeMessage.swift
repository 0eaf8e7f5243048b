import AMQP
import Domain
import FoundationEssentials
import Messaging
import Wire

/// A message of a conversation, as the broker's clients know it:
///
///     routing key   user1.user3                            the participants
///     message_id    the id                                 the same on every repeat
///     app_id        letsswitch                             what has gone out from here
///     body          {"id","content","author","date","conversation"}
///
/// `date` is in seconds from 2001, as Swift encodes dates by default. Clients may leave out `id`, `date` and `conversation`.
enum BridgeMessage {
    /// Of 2001-01-01T00:00:00Z, in seconds since 1970.
    private static let referenceDate = 978_307_200
    /// In bytes: far more than any content needs, however it is escaped.
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
                // Whoever's queue outlives a restart of the broker finds it there.
                isPersistent: true))
    }

    /// What to do with a message that has come.
    enum Verdict: Equatable {
        /// It has gone out from here: nothing.
        case own
        case store(IncomingMessage)
        case reject(RejectionReason)
    }

    static func verdict(_ delivery: AMQPDelivery) -> Verdict {
        verdict(appID: delivery.properties.appID, routingKey: delivery.routingKey, body: delivery.body)
    }

    /// - Parameter body: `nil` if it was too long.
    static func verdict(appID: String?, routingKey: String, body: [UInt8]?) -> Verdict {
        guard appID != BridgeTopology.appID else { return .own }
        // Otherwise it goes to nobody who may be written to.
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

    /// Other members, the date among them, are ignored: the stored date is when this server stored the message.
    private struct Members: Decodable {
        let id: String?
        let content: String
        let author: String
        /// `nil` also for an id of another system, such as Firestore's: the routing key then decides.
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

/// Why something that has come isn't stored.
enum RejectionReason: String, Sendable, CaseIterable {
    /// A word of it can't be a user's name.
    case routingKey = "routing_key"
    /// Its author isn't among those it goes to.
    case author
    /// It is no message, or says nothing.
    case malformed
    /// Somebody is no user; or by the rules of conversations: other participants, another message of this id, somebody who is blocked.
    case refused
    /// There is no room for more.
    case full
    /// The database can't store it, whatever it is.
    case failed
}
