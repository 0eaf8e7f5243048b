package import FoundationEssentials

/// A vote for a question, or its withdrawal. Repeating a vote changes nothing.
package struct Vote: Sendable, Hashable {
    package let session: UUID
    package let question: UUID
    /// The device's id within the session.
    package let voter: UUID
    /// Whether this is a vote. `false` for a withdrawal.
    package let isFor: Bool

    package init(session: UUID, question: UUID, voter: UUID, isFor: Bool) {
        self.session = session
        self.question = question
        self.voter = voter
        self.isFor = isFor
    }
}
