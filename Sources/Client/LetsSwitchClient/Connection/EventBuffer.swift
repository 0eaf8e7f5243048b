/// Events that wait for their reader, at most so many; then the end.
struct EventBuffer<Event: Sendable>: Sendable {
    /// What may wait in each stream.
    static var standardCapacity: Int { 1024 }

    let capacity: Int
    private var events: [Event] = []
    /// Where the oldest of them lies: taken from the front in bulk.
    private var first = 0
    private(set) var end: Result<Void, ClientError>?

    /// How many wait.
    var count: Int { events.count - first }

    init(capacity: Int = EventBuffer.standardCapacity) {
        self.capacity = capacity
    }

    /// - Parameter isLast: Nothing follows: there is always room for how it ended.
    /// - Returns: `false` when there is no room, or the end is there: nothing is dropped silently.
    mutating func append(_ event: Event, isLast: Bool = false) -> Bool {
        guard end == nil, isLast || count < capacity else { return false }
        events.append(event)
        return true
    }

    /// Nothing follows what waits.
    mutating func finish(_ error: ClientError?) {
        if end == nil { end = error.map { .failure($0) } ?? .success(()) }
    }

    /// The next event, or the end (`.success(nil)`, or its error, once); `nil` when a reader has to wait.
    mutating func next() -> Result<Event?, ClientError>? {
        if first < events.count {
            defer {
                first += 1
                if first == events.count || first == capacity {
                    events.removeFirst(first)
                    first = 0
                }
            }
            return .success(events[first])
        }
        guard let end else { return nil }
        self.end = .success(())
        return end.map { nil }
    }
}
