import ActionCable
import Domain
import FoundationEssentials
import Wire

/// Turns the actions of a subscription into the commands of conversations.
extension ConversationCommand {
    /// Reads an action.
    ///
    /// - Parameter conversation: The subscription's conversation. `nil` for a subscription to all conversations, in
    ///   which each action names one.
    init(_ action: CableAction, in conversation: UUID?) throws(CableActionError) {
        if action.isNamed("speak") {
            self = Self.read { () throws(RequestError) in try Self.message(action.members, in: conversation) }
        } else if action.isNamed("history") {
            self = Self.read { () throws(RequestError) in try Self.history(action.members, in: conversation) }
        } else if action.isNamed("react") {
            self = Self.read { () throws(RequestError) in try Self.react(action.members, in: conversation) }
        } else {
            throw .unknownAction
        }
    }

    /// Reads a command. An invalid command becomes one that is answered with the error, in order.
    private static func read(_ command: () throws(RequestError) -> Self) -> Self {
        do throws(RequestError) {
            return try command()
        } catch {
            return .refused(error, ref: nil)
        }
    }

    private static func message(_ members: JSONObject, in conversation: UUID?) throws(RequestError) -> Self {
        guard let content = members.text("content") else { throw .invalid("content", "is missing") }
        var id: UUID?
        if let text = members.text("id") {
            id = UUID(text: text)
            guard id != nil else { throw .invalid("id", "must be a UUID") }
        }
        let target = MessageTarget.conversation(try named(by: members, or: conversation))
        return .send(try OutgoingMessage(content: content, target: target, id: id), ref: nil)
    }

    private static func history(_ members: JSONObject, in conversation: UUID?) throws(RequestError) -> Self {
        let (after, limit) = (members.count("after") ?? 0, members.count("limit") ?? ConversationPage.maximumCount)
        guard after >= 0, limit > 0 else { throw .invalid("after must be at least 0, and limit at least 1.") }
        return .history(try named(by: members, or: conversation), after: after, limit: limit, ref: nil)
    }

    private static func react(_ members: JSONObject, in conversation: UUID?) throws(RequestError) -> Self {
        guard let message = members.text("messageId").flatMap(UUID.init(text:)) else {
            throw .invalid("messageId", "must be a UUID")
        }
        guard let emoji = members.text("emoji") else { throw .invalid("emoji", "is missing") }
        let action: ReactionRequest.Action =
            switch members["remove"] {
            case nil, .null?, .boolean(false)?: .add
            case .boolean(true)?: .remove
            default: throw .invalid("remove", "must be true or false")
            }
        let request = ReactionRequest(
            conversation: try named(by: members, or: conversation), message: message, emoji: try Emoji(emoji),
            action: action)
        return .react(request, ref: nil)
    }

    private static func named(by members: JSONObject, or own: UUID?) throws(RequestError) -> UUID {
        guard let named = own ?? members.text("conversation").flatMap(UUID.init(text:)) else {
            throw .invalid("conversation", "must be a UUID")
        }
        return named
    }
}

extension JSONObject {
    /// Returns a count that is written as a number or as a string.
    fileprivate func count(_ name: StaticString) -> Int? {
        switch self[name] {
        case .number(let digits)?, .string(let digits)?: Int(String(decoding: digits, as: UTF8.self))
        case nil, .boolean?, .null?, .nested?: nil
        }
    }
}
