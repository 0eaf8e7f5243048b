import Domain
package import FoundationEssentials
import Messaging
import Wire

/// What somebody in the audience may say.
package enum QuestionMessage: Equatable, Sendable {
    /// A question. The id is that of who asks; `nil` when it is no UUID. No content: it was no string.
    case ask(id: UUID?, content: String?)
    /// For a question, or taken back (false). `nil`: no UUID.
    case vote(question: UUID?, isFor: Bool)
    /// Nothing that we know; the sentence says why, and goes back.
    case unknown(String)

    /// Whether it has something kept, as far as it can be told from itself.
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

/// A member of another type is as good as none.
extension JSONObject {
    fileprivate func text(_ name: StaticString) -> String? { string(name).map { String(decoding: $0, as: UTF8.self) } }
    fileprivate func uuid(_ name: StaticString) -> UUID? { text(name).flatMap(UUID.init(text:)) }
}
