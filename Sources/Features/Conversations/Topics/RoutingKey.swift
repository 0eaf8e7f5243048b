/// A routing key of RabbitMQ's topic exchanges: words joined by dots, at most 255 bytes (AMQP 0-9-1, 4.2.5.3, "short
/// string").
///
/// Words are compared by their bytes. So upper and lower case differ, and canonically equivalent texts are different
/// words. The empty key has no words. `a..b` has three words, and the second is empty.
package struct RoutingKey: Hashable, Sendable {
    /// The maximum length in AMQP, in bytes.
    package static let maxLength = 255

    package let bytes: [UInt8]

    /// Returns `nil` if the text has more than ``maxLength`` bytes.
    package init?(_ text: some Sequence<UInt8>) {
        bytes = Array(text.prefix(Self.maxLength + 1))
        guard bytes.count <= Self.maxLength else { return nil }
    }

    /// The words, in order.
    package var words: [ArraySlice<UInt8>] {
        bytes.isEmpty ? [] : bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    }
}

/// A binding key of RabbitMQ, which selects routing keys: words joined by dots. `*` matches one word, and `#` any
/// number of words. Within a longer word they have no special meaning.
package struct BindingPattern: Hashable, Sendable {
    /// A word of a pattern.
    enum Part: Hashable, Sendable {
        case word([UInt8])
        case oneWord
        case anyWords
    }

    package let key: RoutingKey
    let parts: [Part]

    /// Returns `nil` if the text has more than ``RoutingKey/maxLength`` bytes.
    package init?(_ text: some Sequence<UInt8>) {
        guard let key = RoutingKey(text) else { return nil }
        self.key = key
        parts = key.words.map { word in
            switch word {
            case [UInt8(ascii: "*")]: .oneWord
            case [UInt8(ascii: "#")]: .anyWords
            default: .word(Array(word))
            }
        }
    }

    /// Returns whether RabbitMQ would route the key by this pattern. The number of steps is at most the product of the
    /// numbers of words.
    package func matches(_ key: RoutingKey) -> Bool {
        // The numbers of parts that the words read so far can match.
        var reached = Set(skipping(from: 0))
        for word in key.words {
            var next: Set<Int> = []
            for place in reached where place < parts.count {
                switch parts[place] {
                case .anyWords: next.insert(place)
                case .oneWord: next.formUnion(skipping(from: place + 1))
                case .word(let bytes): if word.elementsEqual(bytes) { next.formUnion(skipping(from: place + 1)) }
                }
            }
            // Adds the positions after a `#`, because its words may end here.
            reached = next.reduce(into: next) { $0.formUnion(skipping(from: $1)) }
            guard !reached.isEmpty else { return false }
        }
        return reached.contains(parts.count)
    }

    /// Returns a position, and the later positions that can be reached without a word.
    private func skipping(from place: Int) -> ClosedRange<Int> {
        var end = place
        while end < parts.count, parts[end] == .anyWords { end += 1 }
        return place...end
    }
}
