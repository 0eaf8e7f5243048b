package import Domain
package import FoundationEssentials
package import Messaging
import Wire

/// What somebody who hears conversations may say. `ref` comes back with the answer.
package enum ConversationCommand: Sendable {
    case send(OutgoingMessage, ref: String?)
    case history(UUID, after: Int, limit: Int, ref: String?)
    /// Nothing that we can do; the error goes back.
    case refused(RequestError, ref: String?)

    /// Bytes of a message.
    package static let maximumBytes = 32_768

    package init(_ bytes: UnsafeRawBufferPointer) {
        do throws(RequestError) {
            let envelope = try RequestFields.decode(Envelope.self, from: Array(bytes))
            do throws(RequestError) {
                switch envelope.type {
                case "send":
                    let fields = try RequestFields.decode(ConversationFields.self, from: Array(bytes))
                    self = .send(try fields.message(), ref: envelope.ref)
                case "history":
                    let wanted = try RequestFields.decode(History.self, from: Array(bytes))
                    self = .history(wanted.conversation, after: wanted.after, limit: wanted.limit, ref: envelope.ref)
                default: throw .invalid("type", "must be send or history")
                }
            } catch {
                self = .refused(error, ref: envelope.ref)
            }
        } catch {
            self = .refused(error, ref: nil)
        }
    }

    private struct Envelope: Decodable {
        let type: String
        let ref: String?

        init(from decoder: any Decoder) throws {
            let fields = try RequestFields(decoder)
            type = try fields.text("type")
            ref = try fields.optionalText("ref")
        }
    }

    private struct History: Decodable {
        let conversation: UUID
        let after: Int
        let limit: Int

        init(from decoder: any Decoder) throws {
            let fields = try RequestFields(decoder)
            guard let conversation = UUID(text: try fields.text("conversation")) else {
                throw RequestError.invalid("conversation", "must be a UUID")
            }
            self.conversation = conversation
            after = try fields.optionalInteger("after") ?? 0
            limit = try fields.optionalInteger("limit") ?? ConversationPage.maximumCount
            guard after >= 0 else { throw RequestError.invalid("after", "must not be negative") }
            guard limit > 0 else { throw RequestError.invalid("limit", "must be more than 0") }
        }
    }
}
