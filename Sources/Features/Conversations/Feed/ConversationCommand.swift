package import Domain
package import FoundationEssentials
import Wire

/// A command of a subscriber to conversations. The answer carries its `ref`.
package enum ConversationCommand: Sendable, Equatable {
    case send(OutgoingMessage, ref: String?)
    case history(UUID, after: Int, limit: Int, ref: String?)
    case react(ReactionRequest, ref: String?)
    /// An invalid command. The answer is the error.
    case refused(RequestError, ref: String?)

    package init(_ bytes: UnsafeRawBufferPointer) {
        do throws(RequestError) {
            self = try RequestFields.decode(Members.self, from: Array(bytes)).command
        } catch {
            // The fields can't be decoded together, for example if a name contains half of a surrogate pair. The `ref`
            // is read separately.
            let ref = JSONObject(bytes)?.string("ref").map { String(decoding: $0, as: UTF8.self) }
            self = .refused(error, ref: ref)
        }
    }

    /// The decoded fields. An error after `ref` was read becomes a command, so that the answer has the `ref`.
    private struct Members: Decodable {
        let command: ConversationCommand

        init(from decoder: any Decoder) throws {
            let fields = try RequestFields(decoder)
            let type = try fields.text("type")
            let ref = try fields.optionalText("ref")
            do {
                switch type {
                case "send": command = .send(try ConversationFields(from: decoder).message(), ref: ref)
                case "history": command = try Self.history(fields, ref: ref)
                case "react": command = try Self.react(fields, ref: ref)
                default: throw RequestError.invalid("type", "must be send, history or react")
                }
            } catch let error as RequestError {
                command = .refused(error, ref: ref)
            }
        }

        private static func history(_ fields: RequestFields, ref: String?) throws -> ConversationCommand {
            guard let conversation = UUID(text: try fields.text("conversation")) else {
                throw RequestError.invalid("conversation", "must be a UUID")
            }
            let after = try fields.optionalInteger("after") ?? 0
            let limit = try fields.optionalInteger("limit") ?? ConversationPage.maximumCount
            guard after >= 0 else { throw RequestError.invalid("after", "must not be negative") }
            guard limit > 0 else { throw RequestError.invalid("limit", "must be more than 0") }
            return .history(conversation, after: after, limit: limit, ref: ref)
        }

        private static func react(_ fields: RequestFields, ref: String?) throws -> ConversationCommand {
            guard let conversation = UUID(text: try fields.text("conversation")) else {
                throw RequestError.invalid("conversation", "must be a UUID")
            }
            guard let message = UUID(text: try fields.text("messageId")) else {
                throw RequestError.invalid("messageId", "must be a UUID")
            }
            let emoji = try Emoji(try fields.text("emoji"))
            let action: ReactionRequest.Action = try fields.optionalBoolean("remove") == true ? .remove : .add
            return .react(
                ReactionRequest(conversation: conversation, message: message, emoji: emoji, action: action), ref: ref)
        }
    }
}
