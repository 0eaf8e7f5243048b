import Testing

@testable import Wire

@Suite struct BidirectionalTextTests {
    @Test(
        "Left-to-right text stays unchanged",
        arguments: ["", "History", "Größe; 語 🍺", "Ελληνικά", "Русский", "two\nlines", "e\u{301}", "\u{2060}x"])
    func leftToRight(text: String) {
        #expect(BidirectionalText.quoted(text).utf8.elementsEqual(text.utf8))
        #expect(BidirectionalText.closed(text).utf8.elementsEqual(text.utf8))
    }

    @Test(
        "Text that may run right to left is isolated on one line",
        arguments: [
            ("שלום", "שלום"), ("مرحبا 1", "مرحبا 1"), ("a\u{200F}", "a\u{200F}"), ("\u{1E900}", "\u{1E900}"),
            ("ש\nb\u{2029}c\rd", "ש b c d"),
        ])
    func isolated(text: String, within: String) {
        #expect(BidirectionalText.quoted(text) == "\u{2068}\(within)\u{2069}")
    }

    @Test(
        "Open sections are closed, innermost first",
        arguments: [
            ("a\u{202E}b", "a\u{202E}b\u{202C}"), ("\u{2066}\u{202B}a", "\u{2066}\u{202B}a\u{202C}\u{2069}"),
            ("a\u{2069}b\u{202C}c", "abc"), ("\u{2067}a\u{2069}\u{2069}", "\u{2067}a\u{2069}"),
            // The end of an isolate closes the embeddings inside it. The end of an embedding doesn't close one outside
            // the isolate.
            ("\u{2067}\u{202A}a\u{2069}b\u{202C}", "\u{2067}\u{202A}a\u{2069}b"),
            ("\u{202D}\u{2068}a\u{202C}b\u{2069}c", "\u{202D}\u{2068}ab\u{2069}c\u{202C}"),
            ("\u{202A}a\u{202C}", "\u{202A}a\u{202C}"),
        ])
    func closed(text: String, closed: String) {
        #expect(BidirectionalText.closed(text).utf8.elementsEqual(closed.utf8))
        #expect(BidirectionalText.quoted(text).utf8.elementsEqual("\u{2068}\(closed)\u{2069}".utf8))
    }

    @Test("Each section is closed once at any depth")
    func depth() {
        let text = String(repeating: "\u{2067}\u{202E}", count: 100)
        #expect(BidirectionalText.closed(text).unicodeScalars.count == 400)
        #expect(BidirectionalText.closed(BidirectionalText.closed(text)) == BidirectionalText.closed(text))
    }
}
