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
    /// Whether the audience sees it.
    ///
    /// ```swift
    /// if question.state == .pending { print("the presenter hasn't seen it yet") }
    /// ```
    public enum State: String, Sendable, Hashable, Decodable {
        /// The presenter alone sees it: `case .pending: print("wait")`
        case pending
        /// All see it: `case .approved: print("shown")`
        case approved
        /// Nobody is to see it any more: `case .dismissed: print("gone")`
        case dismissed
    }

    /// The question's own: `questions.vote(for: question.id)`
    public let id: UUID
    /// What is asked: `question.content`
    public let content: String
    /// Whether the presenter has answered it, in words or aloud: `question.isAnswered`
    public let isAnswered: Bool
    /// What the presenter wrote: `question.answer ?? "answered aloud"`
    public let answer: String?
    /// How many want to know, too: `question.votes`
    public let votes: Int
    /// Who sees it: `question.state == .approved`
    public let state: State
    /// When: `question.askedAt`
    public let askedAt: Date

    private enum CodingKeys: String, CodingKey {
        case id, content, answer, votes, state, askedAt
        case isAnswered = "answered"
    }

    /// Reads what the server says, on whatever way it came: `try JSONDecoder().decode(Question.self, from: data)`
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
