package import FoundationEssentials

/// What has changed in a session since a version of it.
package struct QuestionChanges: Sendable {
    /// One question.
    package enum Change: Sendable, Hashable {
        /// Nothing has happened to it but that it was asked.
        case asked(Question)
        /// As it stands now.
        case changed(Question)
        /// Who asked it was erased, and its content with it.
        case removed(UUID)
    }

    /// Some of it.
    package struct Part: Sendable, Hashable {
        package var changes: [Change] = []
        /// The answered ones among them: who asked is told.
        package var answers: [QuestionAnswer] = []

        package init(_ changes: [Change] = [], answers: [QuestionAnswer] = []) {
            self.changes = changes
            self.answers = answers
        }
    }

    /// The session as it is now.
    package let session: QuestionSession
    package let part: Part
    package let announcements: [Announcement]
    /// Up to which version of the session it is known what has changed: a list that is older lacks something.
    package let through: Int

    package init(session: QuestionSession, part: Part = Part(), announcements: [Announcement] = [], through: Int) {
        self.session = session
        self.part = part
        self.announcements = announcements
        self.through = through
    }
}

/// Which questions of a session have changed since a version of it.
package struct ChangedQuestions: Sendable {
    /// Of one reading.
    package static let maximumCount = 1_000

    package struct Mark: Sendable, Hashable {
        package let question: UUID
        /// Nothing has happened to it but votes.
        package var isVoted: Bool
        package var wasAnswered: Bool

        package init(question: UUID, isVoted: Bool, wasAnswered: Bool = false) {
            self.question = question
            self.isVoted = isVoted
            self.wasAnswered = wasAnswered
        }
    }

    /// The session as it is now.
    package let session: QuestionSession
    /// In the order of their last changes.
    package let marks: [Mark]
    /// The version of the last announcement.
    package let announced: Int
    /// Up to which version of the session these are all.
    package let through: Int
}

/// That a question was answered.
package struct QuestionAnswer: Sendable, Hashable {
    package let question: UUID
    package let askedFrom: UUID

    package init(question: UUID, askedFrom: UUID) {
        self.question = question
        self.askedFrom = askedFrom
    }
}

/// What a presenter tells sockets.
package struct Announcement: Sendable, Hashable {
    package let content: String
    package let recipients: Recipients

    package init(content: String, recipients: Recipients) {
        self.content = content
        self.recipients = recipients
    }
}
