import Domain
package import FoundationEssentials
import Wire

/// A message from the audience.
package enum QuestionMessage: Equatable, Sendable {
    /// A question. The id names its author, and is `nil` if it isn't a UUID. The content is `nil` if it isn't a string.
    case ask(id: UUID?, content: String?)
    /// A vote, or its withdrawal if `isFor` is `false`. The question is `nil` if its id isn't a UUID.
    case vote(question: UUID?, isFor: Bool)
    /// An invalid message. The text says what is wrong, and is sent back.
    case unknown(String)

    /// Whether the message would be stored if only its content is checked.
    var isKept: Bool {
        switch self {
        case .ask(_, let content): content.flatMap { try? QuestionText.check($0, "content") } != nil
        case .vote(_, let isFor): isFor
        case .unknown: false
        }
    }

    package init(_ bytes: UnsafeRawBufferPointer) {
        guard let message = JSONObject(bytes), let type = message.text("type") else {
            self = .unknown(
                JSONSyntax.isValid(bytes)
                    ? "A message must be a JSON object whose type is a string." : "A message must be JSON in UTF-8.")
            return
        }
        switch type {
        case "newQuestion": self = .ask(id: message.uuid("id"), content: message.text("content"))
        case "vote": self = .vote(question: message.uuid("questionId"), isFor: true)
        case "unvote": self = .vote(question: message.uuid("questionId"), isFor: false)
        default: self = .unknown("The type of a message must be newQuestion, vote or unvote.")
        }
    }
}

/// Reads the fields of a message. A field of another type counts as missing.
extension JSONObject {
    fileprivate func uuid(_ name: StaticString) -> UUID? { text(name).flatMap(UUID.init(text:)) }
}
