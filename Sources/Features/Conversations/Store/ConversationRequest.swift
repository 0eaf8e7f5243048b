import Crypto
package import Domain
package import FoundationEssentials

/// The body of a request for a name in conversations: `{deviceId, name}`.
package struct UserRequest: Sendable, Hashable {
    package let device: DeviceID
    package let name: UserName

    /// Throws `invalid_request` with the name of the invalid field.
    ///
    /// - Parameter identify: Returns the device for the body's `deviceId`, which may be missing.
    package static func decode(
        _ body: [UInt8], identify: (String?) throws -> DeviceID = { try DeviceID($0) }
    ) throws -> UserRequest {
        let members = try RequestFields.decode(Members.self, from: body)
        return UserRequest(device: try identify(members.deviceId), name: try UserName(members.name))
    }

    private struct Members: Decodable {
        let deviceId: String?
        let name: String

        init(from decoder: any Decoder) throws {
            let fields = try RequestFields(decoder)
            deviceId = try fields.optionalText("deviceId")
            name = try fields.text("name")
        }
    }
}

/// The body of a request for a new conversation: `{deviceId, participants:[names], id?}`.
package struct NewConversationRequest: Sendable, Hashable {
    package let device: DeviceID
    package let participants: [UserName]
    package let id: UUID?

    package static func decode(
        _ body: [UInt8], identify: (String?) throws -> DeviceID = { try DeviceID($0) }
    ) throws -> NewConversationRequest {
        let members = try RequestFields.decode(Members.self, from: body)
        guard members.participants.count <= Conversation.maximumParticipants else {
            throw RequestError.tooManyParticipants
        }
        return NewConversationRequest(
            device: try identify(members.deviceId),
            participants: try members.participants.map { try UserName($0, "participants") },
            id: try ConversationFields.uuid(members.id, "id"))
    }

    private struct Members: Decodable {
        let deviceId: String?
        let participants: [String]
        let id: String?

        init(from decoder: any Decoder) throws {
            let fields = try RequestFields(decoder)
            deviceId = try fields.optionalText("deviceId")
            guard let participants = try fields.optionalTexts("participants") else {
                throw RequestError.invalid("participants", "is missing")
            }
            self.participants = participants
            id = try fields.optionalText("id")
        }
    }
}

/// The target of a message.
package enum MessageTarget: Sendable, Hashable {
    case conversation(UUID)
    /// Several conversations. Each receives its own copy of the message.
    case conversations([UUID])
    /// The oldest conversation of exactly these users and the sender, or a new one if there is none.
    case participants([UserName])

    package static let maximumConversations = 20

    /// The number of conversations that receive the message.
    package var count: Int {
        if case .conversations(let conversations) = self { conversations.count } else { 1 }
    }
}

/// A message to send.
package struct OutgoingMessage: Sendable, Hashable {
    package let content: String
    package let target: MessageTarget
    /// An id chosen by the client. A repeated request with the same id has no further effect.
    package let id: UUID?

    /// Throws `invalid_request` with the name of the invalid field.
    package init(content: String, target: MessageTarget, id: UUID?) throws(RequestError) {
        self.content = try Self.check(content)
        self.target = target
        self.id = id
    }

    /// Checks the text of a message. Throws `invalid_request`.
    static func check(_ content: String) throws(RequestError) -> String {
        try RequestText.checkShown(content, "content", maximumScalars: ConversationMessage.maximumScalars)
    }

    /// Returns the conversations, and the message's id in each. For participants, returns their names and an id for a
    /// new conversation.
    func destinations() throws -> (conversations: [UUID], ids: [UUID], names: [String]?) {
        switch target {
        case .conversation(let conversation): ([conversation], [id ?? UUID()], nil)
        case .conversations(let conversations) where conversations.count == 1: (conversations, [id ?? UUID()], nil)
        case .conversations(let conversations):
            (conversations, try conversations.map { try id.map(Self.derive(in: $0)) ?? UUID() }, nil)
        case .participants(let names): ([UUID()], [id ?? UUID()], names.map(\.text))
        }
    }

    /// Returns a function that derives a message's id in one of several conversations from the id that the client
    /// chose.
    private static func derive(in conversation: UUID) -> (UUID) throws -> UUID {
        { id in
            let bytes = [id, conversation].flatMap { uuid in withUnsafeBytes(of: uuid.uuid) { Array($0) } }
            var digest = try SHA256.digest(bytes)
            // Marks the UUID as version 8, custom (RFC 9562 §5.8).
            digest[6] = digest[6] & 0x0F | 0x80
            digest[8] = digest[8] & 0x3F | 0x80
            return digest.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        }
    }
}

/// The body of a request to send a message: `{deviceId, content, id?}` with one of `conversation`, `conversations` and
/// `routingKey`.
package struct MessageRequest: Sendable, Hashable {
    package let device: DeviceID
    package let message: OutgoingMessage

    package static func decode(
        _ body: [UInt8], identify: (String?) throws -> DeviceID = { try DeviceID($0) }
    ) throws -> MessageRequest {
        let members = try RequestFields.decode(Members.self, from: body)
        return MessageRequest(device: try identify(members.deviceId), message: try members.fields.message())
    }

    private struct Members: Decodable {
        let deviceId: String?
        let fields: ConversationFields

        init(from decoder: any Decoder) throws {
            deviceId = try RequestFields(decoder).optionalText("deviceId")
            fields = try ConversationFields(from: decoder)
        }
    }
}

/// The fields of a request or of a socket's message that contain the message and its target.
package struct ConversationFields: Decodable, Sendable {
    let content: String?
    let conversation: String?
    let conversations: [String]?
    let routingKey: String?
    let id: String?

    package init(from decoder: any Decoder) throws {
        let fields = try RequestFields(decoder)
        content = try fields.optionalText("content")
        conversation = try fields.optionalText("conversation")
        conversations = try fields.optionalTexts("conversations")
        routingKey = try fields.optionalText("routingKey")
        id = try fields.optionalText("id")
    }

    /// Throws `invalid_request` with the name of the invalid field.
    package func message() throws(RequestError) -> OutgoingMessage {
        guard let content else { throw .invalid("content", "is missing") }
        return try OutgoingMessage(content: content, target: target(), id: Self.uuid(id, "id"))
    }

    private func target() throws(RequestError) -> MessageTarget {
        switch (conversation, conversations, routingKey) {
        case (let text?, nil, nil):
            guard let id = UUID(text: text) else { throw .invalid("conversation", "must be a UUID") }
            return .conversation(id)
        case (nil, let texts?, nil):
            guard (1...MessageTarget.maximumConversations).contains(texts.count) else {
                throw .invalid("conversations", "must contain 1 to \(MessageTarget.maximumConversations) UUIDs")
            }
            var ids: [UUID] = []
            for text in texts {
                guard let id = UUID(text: text), !ids.contains(id) else {
                    throw .invalid("conversations", "must contain different UUIDs")
                }
                ids.append(id)
            }
            return .conversations(ids)
        case (nil, nil, let text?):
            guard let key = RoutingKey(text.utf8) else {
                throw .invalid("routingKey", "must have at most \(RoutingKey.maxLength) bytes")
            }
            var names: [UserName] = []
            for word in key.words { names.append(try UserName(String(decoding: word, as: UTF8.self), "routingKey")) }
            return .participants(names)
        default:
            throw .invalid("Exactly one of conversation, conversations and routingKey is required.")
        }
    }

    /// Reads an optional UUID. Returns `nil` if it is missing. Throws `invalid_request` with the name of the invalid
    /// field.
    static func uuid(_ text: String?, _ member: String) throws(RequestError) -> UUID? {
        guard let text else { return nil }
        guard let uuid = UUID(text: text) else { throw .invalid(member, "must be a UUID") }
        return uuid
    }
}

/// An action of a participant that affects only that participant.
package enum ParticipantAction: Sendable, Hashable {
    case read(offset: Int)
    case mute(Bool)
    case leave
}

/// The body of a participant's action: `{deviceId, offset}`, `{deviceId, muted}` or `{deviceId}`.
package struct ParticipantRequest: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        case read, mute, leave
    }

    package let device: DeviceID
    package let action: ParticipantAction

    package static func decode(
        _ kind: Kind, _ body: [UInt8], identify: (String?) throws -> DeviceID = { try DeviceID($0) }
    ) throws -> ParticipantRequest {
        let (device, action): (String?, ParticipantAction)
        switch kind {
        case .read:
            let members = try RequestFields.decode(Reading.self, from: body)
            (device, action) = (members.deviceId, .read(offset: members.offset))
        case .mute:
            let members = try RequestFields.decode(Muting.self, from: body)
            (device, action) = (members.deviceId, .mute(members.muted))
        case .leave:
            (device, action) = (try RequestFields.decode(Leaving.self, from: body).deviceId, .leave)
        }
        return ParticipantRequest(device: try identify(device), action: action)
    }

    private struct Reading: Decodable {
        let deviceId: String?
        let offset: Int

        init(from decoder: any Decoder) throws {
            let fields = try RequestFields(decoder)
            deviceId = try fields.optionalText("deviceId")
            offset = try fields.integer("offset")
            guard offset >= 0 else { throw RequestError.invalid("offset", "must not be negative") }
        }
    }

    private struct Muting: Decodable {
        let deviceId: String?
        let muted: Bool

        init(from decoder: any Decoder) throws {
            let fields = try RequestFields(decoder)
            deviceId = try fields.optionalText("deviceId")
            muted = try fields.boolean("muted")
        }
    }

    private struct Leaving: Decodable {
        let deviceId: String?

        init(from decoder: any Decoder) throws {
            deviceId = try RequestFields(decoder).optionalText("deviceId")
        }
    }
}
