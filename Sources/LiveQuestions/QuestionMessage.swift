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
        guard JSONSyntax.isValid(bytes) else {
            self = .unknown("A message is JSON in UTF-8; this one isn't.")
            return
        }
        guard let message = try? JSONDecoder().decode(Members.self, from: Data(bytes)), let type = message.type else {
            self = .unknown("A message is an object whose type is a string.")
            return
        }
        let question = message.questionId.flatMap(UUID.init(text:))
        switch type {
        case "newQuestion": self = .ask(id: message.id.flatMap(UUID.init(text:)), content: message.content)
        case "vote": self = .vote(question: question, isFor: true)
        case "unvote": self = .vote(question: question, isFor: false)
        default: self = .unknown("The type of a message is newQuestion, vote or unvote.")
        }
    }

    private struct Members: Decodable {
        let type: String?
        let id: String?
        let content: String?
        let questionId: String?

        private enum Name: CodingKey {
            case type, id, content, questionId
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            // A member of another type is as good as none.
            type = try? container.decode(String.self, forKey: .type)
            id = try? container.decode(String.self, forKey: .id)
            content = try? container.decode(String.self, forKey: .content)
            questionId = try? container.decode(String.self, forKey: .questionId)
        }
    }
}
