package import Domain

/// A single emoji, in the form in which it was sent. Two forms of an emoji are different, such as those with and
/// without a skin tone.
package struct Emoji: Sendable, Hashable {
    package static let maximumScalars = 10
    package static let maximumBytes = 64

    package let text: String

    /// Creates an emoji from text stored in the database. Stored emoji are always valid, so the text isn't checked.
    init(stored text: String) {
        self.text = text
    }

    /// Throws `invalid_request` with the name of the invalid field.
    package init(_ text: String, _ member: String = "emoji") throws(RequestError) {
        guard Self.isEmoji(text) else {
            throw .invalid(
                member,
                """
                must be a single emoji of at most \(Self.maximumScalars) Unicode scalars and \(Self.maximumBytes) bytes, \
                such as 👍
                """)
        }
        self.text = text
    }

    private static let variation: Unicode.Scalar = "\u{FE0F}"
    private static let joiner: Unicode.Scalar = "\u{200D}"
    private static let keycap: Unicode.Scalar = "\u{20E3}"
    private static let blackFlag: Unicode.Scalar = "\u{1F3F4}"
    private static let regionalIndicators: ClosedRange<Unicode.Scalar> = "\u{1F1E6}"..."\u{1F1FF}"
    /// The tag characters that spell a region's flag, such as Scotland's.
    private static let tags: ClosedRange<Unicode.Scalar> = "\u{E0020}"..."\u{E007F}"

    /// Returns whether the text is one emoji (UTS #51 §1.4). Refuses scalars that no emoji contains. Combining marks,
    /// for example, could draw over other lines.
    private static func isEmoji(_ text: String) -> Bool {
        guard text.utf8.count <= maximumBytes, text.count == 1 else { return false }
        let scalars = Array(text.unicodeScalars)
        let (first, rest) = (scalars[0], scalars.dropFirst())
        guard scalars.count <= maximumScalars,
            first.properties.isEmojiPresentation || first.properties.isEmoji && rest.first == variation
        else { return false }
        if regionalIndicators.contains(first) { return rest.count == 1 }
        // Digits, `#` and `*` are emoji only as keycaps.
        if first.isASCII { return Array(rest) == [variation, keycap] }
        return rest.last != joiner
            && rest.allSatisfy { scalar in
                scalar == variation || scalar == joiner || scalar.properties.isEmoji && !scalar.isASCII
                    || first == blackFlag && tags.contains(scalar)
            }
    }
}
