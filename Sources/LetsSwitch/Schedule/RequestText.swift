/// The rules for text that a client sends and the database keeps.
enum RequestText {
    /// For what other people are shown: returns the text, or throws `invalid_request` naming the member.
    static func checkShown(_ text: String, _ member: String, maximumScalars: Int) throws(RequestError) -> String {
        let text = try check(text, member, maximumScalars: maximumScalars)
        guard !text.unicodeScalars.allSatisfy(showsNothing) else {
            throw .invalid(member, "holds nothing that can be seen")
        }
        return text
    }

    /// White space, what readers are to ignore, controls, and characters that are blank by design. What this system's Unicode doesn't
    /// know yet may be next year's emoji.
    private static func showsNothing(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isWhitespace || properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint {
            return true
        }
        switch (properties.generalCategory, scalar) {
        case (.control, _), (.format, _): return true
        // The braille pattern without dots, and the note without a head.
        case (_, "\u{2800}"), (_, "\u{1D159}"): return true
        default: return false
        }
    }

    /// Returns the text, or throws `invalid_request` naming the member. Of what nobody is shown, such as an id, every text will do that
    /// isn't forgotten altogether.
    static func check(_ text: String, _ member: String, maximumScalars: Int) throws(RequestError) -> String {
        let scalars = text.unicodeScalars
        guard !scalars.contains("\0") else { throw .invalid(member, "contains U+0000, which can't be stored") }
        guard !scalars.allSatisfy(\.properties.isWhitespace) else { throw .invalid(member, "is blank") }
        guard scalars.count <= maximumScalars else {
            throw .invalid(member, "is longer than \(maximumScalars) characters")
        }
        return text
    }
}
