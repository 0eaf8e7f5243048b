import Crypto
import Wire

/// What a feed's address ends in: 144 bits that nobody can guess. Printing one doesn't show it.
struct CalendarSecret: Sendable, Hashable {
    private static let byteCount = 18
    private static let fileExtension = ".ics"

    /// 24 characters of base64url.
    let text: String

    /// A new one.
    static func make() throws -> CalendarSecret {
        CalendarSecret(stored: Base64.encodeForURL(try RandomBytes.make(byteCount)))
    }

    /// From the database, where only valid ones are.
    init(stored text: String) {
        self.text = text
    }

    /// From the last part of a path, `<secret>.ics`; nil when it is none.
    init?(fileName: String) {
        guard fileName.hasSuffix(Self.fileExtension) else { return nil }
        let text = fileName.dropLast(Self.fileExtension.count)
        guard Base64.decode(text)?.count == Self.byteCount else { return nil }
        self.text = String(text)
    }

    var path: String { "/calendar/\(text)\(Self.fileExtension)" }
}

extension CalendarSecret: CustomStringConvertible {
    var description: String { "…" }
}
