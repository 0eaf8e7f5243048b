package import Domain
package import FoundationEssentials
import Postgres
package import Wire

/// A question in its current state.
package struct Question: Sendable, Hashable {
    package enum State: String, Sendable, Hashable {
        /// The question waits for the presenter's approval. The audience doesn't see it.
        case pending
        case approved
        case dismissed
    }

    package let id: UUID
    package let session: UUID
    package let content: String
    package let answered: Bool
    package let answer: String?
    package let votes: Int
    package let state: State
    package let askedAt: Instant
    /// The id of the asker within the session. Only presenters receive it.
    package let askedFrom: UUID
    /// The session's version at the question's last change.
    package let version: Int

    package init(
        id: UUID, session: UUID, content: String, answered: Bool = false, answer: String? = nil, votes: Int = 0,
        state: State = .approved, askedAt: Instant, askedFrom: UUID, version: Int = 0
    ) {
        self.id = id
        self.session = session
        self.content = content
        self.answered = answered
        self.answer = answer
        self.votes = votes
        self.state = state
        self.askedAt = askedAt
        self.askedFrom = askedFrom
        self.version = version
    }

    /// - Parameter forPresenter: Whether to include the asker.
    package func write(to json: inout JSONText, forPresenter: Bool) {
        json.object { object in
            object.member("id", id.text)
            object.member("session", session.text)
            object.member("content", content)
            object.member("answered", answered)
            object.member("answer", answer)
            object.member("votes", votes)
            object.member("state", state.rawValue)
            object.member("askedAt", askedAt.description)
            if forPresenter { object.member("askedFrom", askedFrom.text) }
        }
    }

    package func json(forPresenter: Bool) -> [UInt8] {
        var json = JSONText()
        write(to: &json, forPresenter: forPresenter)
        return json.bytes
    }
}

/// The rules for the text of questions and answers.
package enum QuestionText {
    /// The maximum number of Unicode scalars.
    package static let maximumScalars = SpeechLimits.scalars

    /// Returns the text. Throws `invalid_request` with the name of the invalid field.
    package static func check(_ text: String, _ member: String) throws(RequestError) -> String {
        try RequestText.checkShown(text, member, maximumScalars: maximumScalars)
    }
}

/// A page of a list of questions.
package struct QuestionPage: Sendable {
    /// The limits of a page: the number of questions, and the approximate bytes of JSON. A page ends at the limit that
    /// is reached first.
    package static let maximumCount = SpeechLimits.pageEntries
    package static let maximumBytes = SpeechLimits.pageBytes

    package let session: QuestionSession
    package let questions: [Question]
    /// Whether more questions follow.
    package let more: Bool
    /// The digest of the presenter's key. `nil` if every user is a presenter.
    package let key: PresenterKeyDigest?

    package init(session: QuestionSession, questions: [Question], more: Bool, key: PresenterKeyDigest? = nil) {
        self.session = session
        self.questions = questions
        self.more = more
        self.key = key
    }

    /// Writes `"questions":[…],"more":…` into an object.
    package func writeMembers(to json: inout JSONText, forPresenter: Bool) {
        json.name("questions")
        json.array { array in
            for question in questions { question.write(to: &array, forPresenter: forPresenter) }
        }
        json.member("more", more)
    }
}
