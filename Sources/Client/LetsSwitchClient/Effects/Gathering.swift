/// What came and waits to be one change: a value without a clock.
struct Gathering<Element: Sendable>: Sendable {
    /// So many don't wait for more.
    static var most: Int { 1024 }

    private let batch: Duration
    private let quiet: Duration
    private var elements: [Element] = []
    private var first = Duration.zero
    private var last = Duration.zero

    /// - Parameters:
    ///   - batch: Since the first one, at most.
    ///   - quiet: Since the last one.
    init(batch: Duration, quiet: Duration) {
        self.batch = batch
        self.quiet = quiet
    }

    /// When ``take(at:)`` is due; `nil` while there is nothing.
    var deadline: Duration? {
        guard !elements.isEmpty else { return nil }
        return elements.count < Self.most ? min(first + batch, last + quiet) : last
    }

    mutating func add(_ element: Element, at now: Duration) {
        if elements.isEmpty { first = now }
        last = now
        elements.append(element)
    }

    /// All of it, in order, when it is due.
    mutating func take(at now: Duration) -> [Element] {
        guard let deadline, deadline <= now else { return [] }
        return takeAll()
    }

    mutating func takeAll() -> [Element] {
        defer { elements = [] }
        return elements
    }
}
