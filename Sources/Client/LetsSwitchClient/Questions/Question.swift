#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A question of an audience.
///
/// ```swift
/// print("\(question.votes) × \(question.content)", question.answer ?? "")
/// ```
public struct Question: Sendable, Hashable, Decodable {
    /// Says whether the audience sees the question.
    ///
    /// ```swift
    /// if question.state == .pending { print("waiting for approval") }
    /// ```
    public enum State: String, Sendable, Hashable, Decodable {
        /// Only the presenter sees the question: `case .pending: print("wait")`
        case pending
        /// The whole audience sees the question: `case .approved: print("shown")`
        case approved
        /// The presenter has dismissed the question: `case .dismissed: print("dismissed")`
        case dismissed
    }

    /// The question's id: `questions.vote(for: question.id)`
    public let id: UUID
    /// The text: `question.content`
    public let content: String
    /// Whether the presenter has answered the question, in writing or aloud: `question.isAnswered`
    public let isAnswered: Bool
    /// The presenter's written answer: `question.answer ?? "answered aloud"`
    public let answer: String?
    /// The number of votes: `question.votes`
    public let votes: Int
    /// The question's state: `question.state == .approved`
    public let state: State
    /// The time at which the question was asked: `question.askedAt`
    public let askedAt: Date

    private enum CodingKeys: String, CodingKey {
        case id, content, answer, votes, state, askedAt
        case isAnswered = "answered"
    }

    /// Decodes the server's JSON, from any transport: `try JSONDecoder().decode(Question.self, from: data)`
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(UUID.self, forKey: .id)
        content = try members.decode(String.self, forKey: .content)
        isAnswered = try members.decode(Bool.self, forKey: .isAnswered)
        answer = try members.decodeIfPresent(String.self, forKey: .answer)
        votes = try members.decode(Int.self, forKey: .votes)
        state = try members.decode(State.self, forKey: .state)
        askedAt = try members.decode(WireDate.self, forKey: .askedAt).date
    }
}
