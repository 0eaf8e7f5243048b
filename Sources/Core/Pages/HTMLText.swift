/// Text inside HTML.
package enum HTMLText {
    /// Escapes text that people have written.
    package static func escape(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
