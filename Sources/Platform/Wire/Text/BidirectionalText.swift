/// Text of users within text of the server. The writing direction of the users' text (Unicode Standard Annex #9) must
/// not affect the text around it. Stored data and JSON responses aren't changed.
package enum BidirectionalText {
    /// The kind of section that a control character opens. It determines which character closes the section.
    private enum Opening {
        case embedding, isolate
    }

    private static let firstStrongIsolate: Unicode.Scalar = "\u{2068}"
    private static let popDirectionalIsolate: Unicode.Scalar = "\u{2069}"
    private static let popDirectionalFormatting: Unicode.Scalar = "\u{202C}"

    /// Returns the text in a form that can be used within a sentence. If the text could affect the direction of the
    /// text around it, it is enclosed in isolates. It is also put on one line, because an isolate ends with its
    /// paragraph (BD9).
    package static func quoted(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: mayRunFromTheRight) else { return text }
        var quoted = String.UnicodeScalarView([firstStrongIsolate])
        for scalar in closed(text).unicodeScalars { quoted.append(endsParagraph(scalar) ? " " : scalar) }
        quoted.append(popDirectionalIsolate)
        return String(quoted)
    }

    /// Returns the text in a form for a separate field, which programs may join with other text. Open sections are
    /// closed, and closing characters without an open section are removed (BD9, BD11).
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
                // This also closes the embeddings within the isolate.
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

    /// Whether a character is an embedding, an override, an isolate, or the end of one. Marks aren't included, because
    /// they open nothing.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": true
        default: false
        }
    }

    /// Whether a character may change the direction of the text. These are controls and marks, and the blocks of
    /// right-to-left characters, including unassigned ones (§3.2, DerivedBidiClass.txt). All other characters leave a
    /// left-to-right sentence unchanged.
    private static func mayRunFromTheRight(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\u{590}"..."\u{8FF}", "\u{200E}"..."\u{200F}", "\u{FB1D}"..."\u{FDFF}", "\u{FE70}"..."\u{FEFF}",
            "\u{10800}"..."\u{10FFF}", "\u{1E800}"..."\u{1EFFF}":
            true
        default: isControl(scalar)
        }
    }

    /// Whether a character has the class B, which ends a paragraph.
    private static func endsParagraph(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\n", "\r", "\u{1C}"..."\u{1E}", "\u{85}", "\u{2029}": true
        default: false
        }
    }
}
