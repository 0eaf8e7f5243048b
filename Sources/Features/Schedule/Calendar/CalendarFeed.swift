import Crypto
import Domain
import FoundationEssentials
import Wire

/// A device's tasks as calendar programs show them.
package struct CalendarFeed: Sendable, Hashable {
    /// A task in the feed.
    struct Entry: Sendable, Hashable {
        let taskId: UUID
        let title: String
        /// The partner's title. `nil` without a partner or if the partner was erased.
        let partnerTitle: String?
        let isPaired: Bool
        let startsAt: Instant
        let remindsAt: Instant
        /// The time at which the task's room closes.
        let closesAt: Instant
    }

    /// The number of reads whose entries differed from those of the read before.
    let revision: Int
    /// The time of the read that last increased ``revision``, or of the first read.
    let revisedAt: Instant
    /// The entries in order of time.
    let entries: [Entry]
}

/// The secret at the end of a feed's address: 144 random bits. Printing it doesn't show it.
package struct CalendarSecret: Sendable, Hashable {
    private static let byteCount = 18
    private static let fileExtension = ".ics"

    /// The secret: 24 characters of base64url.
    package let text: String

    /// Returns a new secret.
    package static func make() throws -> CalendarSecret {
        CalendarSecret(stored: Base64.encodeForURL(try RandomBytes.make(byteCount)))
    }

    /// Creates a secret from text stored in the database. Stored secrets are always valid, so the text isn't checked.
    package init(stored text: String) {
        self.text = text
    }

    /// Reads the last part of a path, `<secret>.ics`. Returns `nil` if it is invalid.
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
