/// A table of patterns and their listeners. It finds the listeners of a routing key without trying each pattern. The
/// table is a trie over the words of the patterns, and a search follows all matching paths at once.
///
/// A search keeps the set of nodes that match the words so far. The set has more than one node only if patterns contain
/// `*` or `#`. The number of steps is at most the number of words in the key, times the largest size of the set. A
/// pattern whose words differ from the key's adds no steps. Each word is stored once, and each edge once in a flat
/// table. A pattern like `#.user.#` needs about 200 bytes.
package struct TopicTable<Listener: Hashable> {
    private typealias Word = Int32
    private typealias Node = Int32

    private struct Edge: Hashable {
        let from: Node
        let word: Word
    }

    private struct Place {
        var listeners: Set<Listener> = []
        /// The number of edges that leave the node.
        var children: Int32 = 0
        /// The edge that leads here. `nil` for the root and for a free node.
        var edge: Edge?
    }

    // The numbers of `*` and `#`, which no other word has.
    private static var oneWord: Word { 0 }
    private static var anyWords: Word { 1 }
    private static var root: Node { 0 }

    private var places = [Place()]
    private var freePlaces: [Node] = []
    private var edges: [Edge: Node] = [:]
    private var words: [ArraySlice<UInt8>: Word] = [:]
    /// The words by number, each with the number of edges that use it.
    private var uses: [(count: Int32, word: ArraySlice<UInt8>)] = [(1, []), (1, [])]
    private var freeWords: [Word] = []

    /// The number of combinations of a pattern and a listener.
    package private(set) var count = 0

    package init() {}

    /// Adds a listener. Returns whether it is new for the pattern.
    @discardableResult
    package mutating func insert(_ listener: Listener, for pattern: BindingPattern) -> Bool {
        var node = Self.root
        for part in pattern.parts { node = child(of: node, by: number(of: part)) }
        let isNew = places[Int(node)].listeners.insert(listener).inserted
        if isNew { count += 1 }
        return isNew
    }

    /// Removes a listener. Returns whether the pattern had it.
    @discardableResult
    package mutating func remove(_ listener: Listener, for pattern: BindingPattern) -> Bool {
        var node = Self.root
        for part in pattern.parts {
            guard let word = knownNumber(of: part), let next = edges[Edge(from: node, word: word)] else { return false }
            node = next
        }
        guard places[Int(node)].listeners.remove(listener) != nil else { return false }
        count -= 1
        prune(from: node)
        return true
    }

    /// Returns the listeners with a matching pattern, without duplicates.
    package func listeners(of key: RoutingKey) -> Set<Listener> {
        find(key).listeners
    }

    /// Returns the listeners, and the number of visited nodes.
    func find(_ key: RoutingKey) -> (listeners: Set<Listener>, steps: Int) {
        var reached: [Node] = []
        var steps = 0
        enter(Self.root, &reached)
        for word in key.words {
            let number = words[word]
            var next: [Node] = []
            for node in reached {
                // The `#` that led to this node matches this word, too.
                if places[Int(node)].edge?.word == Self.anyWords { enter(node, &next) }
                if let number, let child = edges[Edge(from: node, word: number)] { enter(child, &next) }
                if let child = edges[Edge(from: node, word: Self.oneWord)] { enter(child, &next) }
            }
            steps += reached.count
            reached = next
            if reached.isEmpty { return ([], steps) }
        }
        var found: Set<Listener> = []
        for node in reached { found.formUnion(places[Int(node)].listeners) }
        return (found, steps + reached.count)
    }

    /// Adds a node, and the later nodes that `#` reaches without a word. A node is never added twice. If a node is
    /// reached both through a `#` and after it, the second visit finds it already present.
    private func enter(_ node: Node, _ reached: inout [Node]) {
        guard !reached.contains(node) else { return }
        reached.append(node)
        if let child = edges[Edge(from: node, word: Self.anyWords)] { enter(child, &reached) }
    }

    // MARK: Words

    private func knownNumber(of part: BindingPattern.Part) -> Word? {
        switch part {
        case .oneWord: Self.oneWord
        case .anyWords: Self.anyWords
        case .word(let bytes): words[bytes[...]]
        }
    }

    private mutating func number(of part: BindingPattern.Part) -> Word {
        if let number = knownNumber(of: part) { return number }
        guard case .word(let bytes) = part else { return Self.oneWord }
        let number: Word
        if let free = freeWords.popLast() {
            number = free
            uses[Int(number)] = (0, bytes[...])
        } else {
            number = Word(uses.count)
            uses.append((0, bytes[...]))
        }
        words[bytes[...]] = number
        return number
    }

    // MARK: Nodes

    private mutating func child(of node: Node, by word: Word) -> Node {
        let edge = Edge(from: node, word: word)
        if let child = edges[edge] { return child }
        let child: Node
        if let free = freePlaces.popLast() {
            child = free
            places[Int(child)] = Place(edge: edge)
        } else {
            child = Node(places.count)
            places.append(Place(edge: edge))
        }
        edges[edge] = child
        places[Int(node)].children += 1
        uses[Int(word)].count += 1
        return child
    }

    /// Removes nodes that lead to no listener, and words without edges.
    private mutating func prune(from last: Node) {
        var node = last
        while places[Int(node)].listeners.isEmpty, places[Int(node)].children == 0, let edge = places[Int(node)].edge {
            edges[edge] = nil
            places[Int(node)] = Place()
            freePlaces.append(node)
            places[Int(edge.from)].children -= 1
            uses[Int(edge.word)].count -= 1
            if uses[Int(edge.word)].count == 0 {
                words[uses[Int(edge.word)].word] = nil
                freeWords.append(edge.word)
            }
            node = edge.from
        }
    }
}
