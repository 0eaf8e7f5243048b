package import FoundationEssentials

/// A vote for a question, or its withdrawal. Repeats change nothing.
package struct Vote: Sendable, Hashable {
    package let session: UUID
    package let question: UUID
    /// The device's id within the session.
    package let voter: UUID
    /// `false` for a withdrawal.
    package let isFor: Bool

    package init(session: UUID, question: UUID, voter: UUID, isFor: Bool) {
        self.session = session
        self.question = question
        self.voter = voter
        self.isFor = isFor
    }
}
