/// What a message is about, as RabbitMQ's topic exchanges understand it: words joined by dots, at most 255 bytes (AMQP 0-9-1,
/// 4.2.5.3, "short string").
///
/// Bytes are compared, so case counts, and canonically equal texts are different words. The empty key has no words; `a..b` has
/// three, of which the second is empty.
package struct RoutingKey: Hashable, Sendable {
    /// As many bytes as AMQP has room for.
    package static let maxLength = 255

    package let bytes: [UInt8]

    /// `nil` for more than ``maxLength`` bytes.
    package init?(_ text: some Sequence<UInt8>) {
        bytes = Array(text.prefix(Self.maxLength + 1))
        guard bytes.count <= Self.maxLength else { return nil }
    }

    /// Its words, in order.
    package var words: [ArraySlice<UInt8>] {
        bytes.isEmpty ? [] : bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    }
}

/// Which routing keys somebody wants to hear of, RabbitMQ's binding key: words joined by dots, where `*` stands for one word, and `#` for none or more.
/// Within a longer word both stand for themselves.
package struct BindingPattern: Hashable, Sendable {
    /// A word of a pattern.
    enum Part: Hashable, Sendable {
        case word([UInt8])
        case oneWord
        case anyWords
    }

    package let key: RoutingKey
    let parts: [Part]

    /// `nil` for more than ``RoutingKey/maxLength`` bytes.
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

    /// Whether RabbitMQ would route the key by this pattern. Takes at most as many steps as the key has words, times those of the
    /// pattern.
    package func matches(_ key: RoutingKey) -> Bool {
        // How many parts may be used up by the words so far.
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
            // What `#` has taken may end here.
            reached = next.reduce(into: next) { $0.formUnion(skipping(from: $1)) }
            guard !reached.isEmpty else { return false }
        }
        return reached.contains(parts.count)
    }

    /// The place itself, and those behind it that are reached without a word.
    private func skipping(from place: Int) -> ClosedRange<Int> {
        var end = place
        while end < parts.count, parts[end] == .anyWords { end += 1 }
        return place...end
    }
}
