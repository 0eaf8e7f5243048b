/// Text of users within the server's own text. Its writing direction (Unicode Standard Annex #9) must not affect the
/// text around it. Stored data and JSON responses stay unchanged.
package enum BidirectionalText {
    /// The kind of section that a control character opens, which decides what closes it.
    private enum Opening {
        case embedding, isolate
    }

    private static let firstStrongIsolate: Unicode.Scalar = "\u{2068}"
    private static let popDirectionalIsolate: Unicode.Scalar = "\u{2069}"
    private static let popDirectionalFormatting: Unicode.Scalar = "\u{202C}"

    /// Returns the text for use within a sentence. If it could affect the direction of its surroundings, it is put on
    /// one line between isolates, because an isolate ends with its paragraph (BD9).
    package static func quoted(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: mayRunFromTheRight) else { return text }
        var quoted = String.UnicodeScalarView([firstStrongIsolate])
        for scalar in closed(text).unicodeScalars { quoted.append(endsParagraph(scalar) ? " " : scalar) }
        quoted.append(popDirectionalIsolate)
        return String(quoted)
    }

    /// Returns the text for use in a separate field, which others may combine with more text. Open sections are closed,
    /// and unmatched closing characters are removed (BD9, BD11).
    package static func closed(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var closed = String.UnicodeScalarView()
        var open: [Opening] = []
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\u{202A}", "\u{202B}", "\u{202D}", "\u{202E}": open.append(.embedding)
            case "\u{2066}"..."\u{2068}": open.append(.isolate)
            case popDirectionalFormatting:
                guard open.last == .embedding else { continue }
                open.removeLast()
            case popDirectionalIsolate:
                // Also closes the embeddings within the isolate.
                guard let isolate = open.lastIndex(of: .isolate) else { continue }
                open.removeSubrange(isolate...)
            default: break
            }
            closed.append(scalar)
        }
        for opening in open.reversed() {
            closed.append(opening == .isolate ? popDirectionalIsolate : popDirectionalFormatting)
        }
        return String(closed)
    }

    /// Embeddings, overrides, isolates and their ends. Marks aren't included, because they open nothing.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": true
        default: false
        }
    }

    /// Controls and marks, and blocks of right-to-left characters, including unassigned ones (§3.2,
    /// DerivedBidiClass.txt). All other text keeps a left-to-right sentence as it is.
    private static func mayRunFromTheRight(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\u{590}"..."\u{8FF}", "\u{200E}"..."\u{200F}", "\u{FB1D}"..."\u{FDFF}", "\u{FE70}"..."\u{FEFF}",
            "\u{10800}"..."\u{10FFF}", "\u{1E800}"..."\u{1EFFF}":
            true
        default: isControl(scalar)
        }
    }

    /// The character class B.
    private static func endsParagraph(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\n", "\r", "\u{1C}"..."\u{1E}", "\u{85}", "\u{2029}": true
        default: false
        }
    }
}
