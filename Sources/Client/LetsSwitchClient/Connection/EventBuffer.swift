/// Events that wait for their reader, up to a capacity, and the end of their stream.
struct EventBuffer<Event: Sendable>: Sendable {
    /// The maximum number of waiting events in each stream.
    static var standardCapacity: Int { 1024 }

    let capacity: Int
    private var events: [Event] = []
    /// The index of the oldest waiting event. Read events are removed many at a time.
    private var first = 0
    private(set) var end: Result<Void, ClientError>?

    /// The number of waiting events.
    var count: Int { events.count - first }

    init(capacity: Int = EventBuffer.standardCapacity) {
        self.capacity = capacity
    }

    /// - Parameter isLast: Whether this is the last event. The last event always fits.
    /// - Returns: `false` if the buffer is full or finished. The caller then has to handle the event.
    mutating func append(_ event: Event, isLast: Bool = false) -> Bool {
        guard end == nil, isLast || count < capacity else { return false }
        events.append(event)
        return true
    }

    /// Ends the stream after the waiting events.
    mutating func finish(_ error: ClientError?) {
        if end == nil { end = error.map { .failure($0) } ?? .success(()) }
    }

    /// Returns the next event, or the end of the stream. The end is reported as an error once, if there is one, and as
    /// `.success(nil)` afterwards. Returns `nil` if the reader has to wait.
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
