/// Elements that are gathered for one change. A value without a clock.
struct Gathering<Element: Sendable>: Sendable {
    /// The number of elements that are taken immediately, without a wait for more elements.
    static var most: Int { 1024 }

    private let batch: Duration
    private let quiet: Duration
    private var elements: [Element] = []
    private var first = Duration.zero
    private var last = Duration.zero

    /// - Parameters:
    ///   - batch: The longest time after the first element.
    ///   - quiet: The time after the last element.
    init(batch: Duration, quiet: Duration) {
        self.batch = batch
        self.quiet = quiet
    }

    /// The time at which to call ``take(at:)``, or `nil` without elements.
    var deadline: Duration? {
        guard !elements.isEmpty else { return nil }
        return elements.count < Self.most ? min(first + batch, last + quiet) : last
    }

    mutating func add(_ element: Element, at now: Duration) {
        if elements.isEmpty { first = now }
        last = now
        elements.append(element)
    }

    /// Returns all elements in order, if their time has come. Otherwise it returns none.
    mutating func take(at now: Duration) -> [Element] {
        guard let deadline, deadline <= now else { return [] }
        return takeAll()
    }

    mutating func takeAll() -> [Element] {
        defer { elements = [] }
        return elements
    }
}
