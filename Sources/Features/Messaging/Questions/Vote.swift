package import FoundationEssentials

/// For a question, or taken back. Repeats change nothing.
package struct Vote: Sendable, Hashable {
    package let session: UUID
    package let question: UUID
    /// By which the session knows the device.
    package let voter: UUID
    /// Taken back: false.
    package let isFor: Bool

    package init(session: UUID, question: UUID, voter: UUID, isFor: Bool) {
        self.session = session
        self.question = question
        self.voter = voter
        self.isFor = isFor
    }
}
