import Crypto
import Domain
import FoundationEssentials
import Wire

/// A device's tasks, as its calendar programs are shown them.
package struct CalendarFeed: Sendable, Hashable {
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

/// What a feed's address ends in: 144 bits that nobody can guess. Printing one doesn't show it.
package struct CalendarSecret: Sendable, Hashable {
    private static let byteCount = 18
    private static let fileExtension = ".ics"

    /// 24 characters of base64url.
    package let text: String

    /// A new one.
    package static func make() throws -> CalendarSecret {
        CalendarSecret(stored: Base64.encodeForURL(try RandomBytes.make(byteCount)))
    }

    /// From the database, where only valid ones are.
    package init(stored text: String) {
        self.text = text
    }

    /// From the last part of a path, `<secret>.ics`; nil when it is none.
    package init?(fileName: String) {
        guard fileName.hasSuffix(Self.fileExtension) else { return nil }
        let text = fileName.dropLast(Self.fileExtension.count)
        guard Base64.decode(text)?.count == Self.byteCount else { return nil }
        self.text = String(text)
    }

    package var path: String { "/calendar/\(text)\(Self.fileExtension)" }
}

extension CalendarSecret: CustomStringConvertible {
    package var description: String { "…" }
}
