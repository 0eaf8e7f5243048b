import Conversations
import Domain

/// Patterns, one on each line, and then a key. The table finds the patterns that match one by one, and a simple
/// implementation finds the same.
enum TopicProperties {
    private static let maxPatterns = 32

    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        var lines = input.content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let text = lines.removeLast()
        let key = RoutingKey(text)
        try require((key == nil) == (text.count > RoutingKey.maxLength), "a key of \(text.count) bytes")
        guard let key else { return }
        var table = TopicTable<Int>()
        var patterns: [Int: BindingPattern] = [:]
        for (number, line) in lines.prefix(maxPatterns).enumerated() {
            guard let pattern = BindingPattern(line) else { continue }
            patterns[number] = pattern
            table.insert(number, for: pattern)
            try require(
                pattern.matches(key) == matches(words(line)[...], words(text)[...]), "pattern \(number) differs")
        }
        let found = table.listeners(of: key)
        try require(found == Set(patterns.filter { $0.value.matches(key) }.keys), "the table finds \(found)")
        for (number, pattern) in patterns {
            try require(table.remove(number, for: pattern), "\(number) was there")
        }
        try require(table.count == 0 && table.listeners(of: key).isEmpty, "something is left")
    }

    private static func words(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        text.isEmpty ? [] : text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    }

    /// Returns whether the pattern matches the key, by a table: each row shows which beginnings of the key a beginning
    /// of the pattern matches.
    private static func matches(_ pattern: ArraySlice<ArraySlice<UInt8>>, _ key: ArraySlice<ArraySlice<UInt8>>) -> Bool
    {
        var row = [true] + key.map { _ in false }
        for part in pattern {
            var next = row.map { _ in false }
            for (end, word) in ([[]] + key).enumerated() {
                if part.elementsEqual("#".utf8) {
                    next[end] = row[end] || (end > 0 && next[end - 1])
                } else if end > 0, part.elementsEqual("*".utf8) || part.elementsEqual(word) {
                    next[end] = row[end - 1]
                }
            }
            row = next
        }
        return row[key.count]
    }
}
