/// The rules for text that a client sends and the database keeps.
enum RequestText {
    /// Returns the text, or throws `invalid_request` naming the member.
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
