import Domain
import FoundationEssentials

/// A device's tasks, as its calendar programs are shown them.
struct CalendarFeed: Sendable, Hashable {
    /// A task.
    struct Entry: Sendable, Hashable {
        let taskId: UUID
        let title: String
        /// Nil without a partner, and when the partner was erased.
        let partnerTitle: String?
        let isPaired: Bool
        let startsAt: Instant
        let remindsAt: Instant
        /// When its room would close.
        let closesAt: Instant
    }

    /// Counts how often the feed was found changed.
    let revision: Int
    /// When it was last.
    let revisedAt: Instant
    /// In order of time.
    let entries: [Entry]
}
