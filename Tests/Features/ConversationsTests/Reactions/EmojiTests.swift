import Testing

@testable import Conversations

/// The emoji that a person can react with.
@Suite struct EmojiTests {
    @Test(
        "A single emoji is accepted in the form in which it was sent",
        arguments: [
            "👍", "😂", "❤️", "👍🏽", "👨‍👩‍👧‍👦", "👩🏽‍❤️‍💋‍👨🏿", "🏴‍☠️", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🇩🇪", "1️⃣", "#️⃣", "©️", "⌚", "🧑🏿‍🚀", "🤦‍♀️",
        ])
    func emoji(text: String) throws {
        #expect(Array(try Emoji(text).text.utf8) == Array(text.utf8))
    }

    @Test(
        "Text that isn't exactly one emoji is refused",
        arguments: [
            "", " ", "a", "1", "#", "ok", "é", "❤", "©", "1️", "👍👍", "👍 ", "\u{FE0F}", "\u{200D}", "🇩", "🇩🇪🇫🇷", "👍\u{301}",
            "👍\u{200D}", "👍\u{FE0E}", "👍\u{E0067}", "\u{1F3F4}\u{E0001}\u{301}", "\u{0}", "1⃣",
            "👍" + String(repeating: "\u{FE0F}", count: 10), "👨‍👩‍👧‍👦‍👨‍👩‍👧‍👦",
        ])
    func others(text: String) {
        #expect(throws: (any Error).self) { try Emoji(text) }
    }
}
