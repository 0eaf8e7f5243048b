package import FoundationEssentials

/// The changes in a session since a version.
package struct QuestionChanges: Sendable {
    /// A change of one question.
    package enum Change: Sendable, Hashable {
        /// The question was asked and hasn't changed since.
        case asked(Question)
        /// The question has changed. This is its current state.
        case changed(Question)
        /// The asker was erased, together with the question's content.
        case removed(UUID)
    }

    /// A part of the changes.
    package struct Part: Sendable, Hashable {
        package var changes: [Change] = []
        /// The answers among the changes, to notify the askers.
        package var answers: [QuestionAnswer] = []

        package init(_ changes: [Change] = [], answers: [QuestionAnswer] = []) {
            self.changes = changes
            self.answers = answers
        }
    }

    /// The session's current state.
    package let session: QuestionSession
    package let part: Part
    package let announcements: [Announcement]
    /// The version up to which the changes are complete. A page with an older version lacks changes.
    package let through: Int

    package init(session: QuestionSession, part: Part = Part(), announcements: [Announcement] = [], through: Int) {
        self.session = session
        self.part = part
        self.announcements = announcements
        self.through = through
    }
}

/// The ids of the questions that have changed since a version.
package struct ChangedQuestions: Sendable {
    /// The maximum number of ids that one query returns.
    package static let maximumCount = 1_000

    package struct Mark: Sendable, Hashable {
        package let question: UUID
        /// Whether only the question's votes have changed.
        package var isVoted: Bool
        package var wasAnswered: Bool

        package init(question: UUID, isVoted: Bool, wasAnswered: Bool = false) {
            self.question = question
            self.isVoted = isVoted
            self.wasAnswered = wasAnswered
        }
    }

    /// The session's current state.
    package let session: QuestionSession
    /// The changed questions, in the order of their last changes.
    package let marks: [Mark]
    /// The version of the last announcement.
    package let announced: Int
    /// The version up to which the list is complete.
    package let through: Int
}

/// The answer of a question.
package struct QuestionAnswer: Sendable, Hashable {
    package let question: UUID
    package let askedFrom: UUID

    package init(question: UUID, askedFrom: UUID) {
        self.question = question
        self.askedFrom = askedFrom
    }
}

/// A presenter's announcement to subscribers.
package struct Announcement: Sendable, Hashable {
    package let content: String
    package let recipients: Recipients

    package init(content: String, recipients: Recipients) {
        self.content = content
        self.recipients = recipients
    }
}
