/// Words of other people's where we show them: what they say of the direction of writing (Unicode Standard Annex #9) is to end
/// with them. What is kept and answered as data stays as it was given.
package enum BidirectionalText {
    /// What a control opens, and so what closes it.
    private enum Opening {
        case embedding, isolate
    }

    private static let firstStrongIsolate: Unicode.Scalar = "\u{2068}"
    private static let popDirectionalIsolate: Unicode.Scalar = "\u{2069}"
    private static let popDirectionalFormatting: Unicode.Scalar = "\u{202C}"

    /// For a sentence of ours: between isolates, if anything in it could turn round what stands beside it, and then on one line,
    /// since an isolate ends with its paragraph (BD9).
    package static func quoted(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: mayRunFromTheRight) else { return text }
        var quoted = String.UnicodeScalarView([firstStrongIsolate])
        for scalar in closed(text).unicodeScalars { quoted.append(endsParagraph(scalar) ? " " : scalar) }
        quoted.append(popDirectionalIsolate)
        return String(quoted)
    }

    /// For a place of its own, which somebody else may put together with others: what is opened in it is closed, and nothing that
    /// isn't (BD9, BD11).
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
                // Closes the embeddings within it too.
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

    /// Embeddings, overrides, isolates and their ends; the marks, which open nothing, aren't among them.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": true
        default: false
        }
    }

    /// Controls and marks, and the blocks whose characters run from right to left, those that are yet to be given out too (§3.2,
    /// DerivedBidiClass.txt). All other text leaves a sentence from left to right as it is.
    private static func mayRunFromTheRight(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\u{590}"..."\u{8FF}", "\u{200E}"..."\u{200F}", "\u{FB1D}"..."\u{FDFF}", "\u{FE70}"..."\u{FEFF}",
            "\u{10800}"..."\u{10FFF}", "\u{1E800}"..."\u{1EFFF}":
            true
        default: isControl(scalar)
        }
    }

    /// The class B of characters.
    private static func endsParagraph(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\n", "\r", "\u{1C}"..."\u{1E}", "\u{85}", "\u{2029}": true
        default: false
        }
    }
}
