package import Domain

/// A name in conversations. It is a word of routing keys. A name belongs to the first device that registers it, and
/// never changes.
package struct UserName: Sendable, Hashable {
    package static let maximumLength = 32

    package let text: String

    /// Creates a name from text stored in the database. Stored names are always valid, so the text isn't checked.
    init(stored text: String) {
        self.text = text
    }

    /// Throws `invalid_request` with the name of the invalid field.
    package init(_ text: String, _ member: String = "name") throws(RequestError) {
        guard (1...Self.maximumLength).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else {
            throw .invalid(
                member, "must have 1 to \(Self.maximumLength) characters, each of them A–Z, a–z, 0–9, _ or -")
        }
        self.text = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Checks the beginning of a name. Throws `invalid_request`.
    package static func prefix(_ text: String) throws(RequestError) -> String {
        text.isEmpty ? "" : try UserName(text, "prefix").text
    }
}
