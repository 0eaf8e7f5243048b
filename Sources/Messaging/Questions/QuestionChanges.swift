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

    /// The session as it is now.
    package let session: QuestionSession
    /// In the order of their versions.
    package let changes: [Change]
    /// The answered ones among them: who asked is told.
    package let answers: [QuestionAnswer]
    package let announcements: [Announcement]
    /// Up to which version of the session this is all there is.
    package let through: Int

    package init(
        session: QuestionSession, changes: [Change] = [], answers: [QuestionAnswer] = [],
        announcements: [Announcement] = [], through: Int
    ) {
        self.session = session
        self.changes = changes
        self.answers = answers
        self.announcements = announcements
        self.through = through
    }
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
