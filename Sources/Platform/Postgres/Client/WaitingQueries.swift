/// Queries that wait for a connection, in the order they came, with removal from the middle.
struct WaitingQueries {
    struct Entry: Equatable {
        let id: PoolStateMachine.QueryID
        let submittedAt: ContinuousClock.Instant
        let deadline: ContinuousClock.Instant

        /// Returns when the query stops waiting, if the last bytes from the server came at `lastReceivedAt`.
        func giveUp(lastReceivedAt: ContinuousClock.Instant?, patience: Duration) -> ContinuousClock.Instant {
            min(deadline, max(submittedAt, lastReceivedAt ?? submittedAt) + patience)
        }
    }

    private var entries: [PoolStateMachine.QueryID: Entry] = [:]
    /// May hold ids that have been removed: skipped when they come up, swept when they are the majority.
    private var order: [PoolStateMachine.QueryID] = []
    private var first = 0

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    mutating func append(_ entry: Entry) {
        sweep()
        order.append(entry.id)
        entries[entry.id] = entry
    }

    func nextGiveUp(lastReceivedAt: ContinuousClock.Instant?, patience: Duration) -> ContinuousClock.Instant? {
        entries.values.lazy.map { $0.giveUp(lastReceivedAt: lastReceivedAt, patience: patience) }.min()
    }

    mutating func popFirst() -> Entry? {
        while first < order.count {
            let id = order[first]
            first += 1
            if let entry = entries.removeValue(forKey: id) { return entry }
        }
        order.removeAll(keepingCapacity: true)
        first = 0
        return nil
    }

    /// Whether it was there.
    mutating func remove(_ id: PoolStateMachine.QueryID) -> Bool {
        entries.removeValue(forKey: id) != nil
    }

    /// Those that have waited in vain, oldest first. O(n).
    mutating func removeOverdue(
        _ now: ContinuousClock.Instant, lastReceivedAt: ContinuousClock.Instant?, patience: Duration
    ) -> [PoolStateMachine.QueryID] {
        let overdue = entries.values.filter { $0.giveUp(lastReceivedAt: lastReceivedAt, patience: patience) <= now }
            .map(\.id)
            .sorted()
        for id in overdue { entries[id] = nil }
        return overdue
    }

    mutating func removeAll() -> [PoolStateMachine.QueryID] {
        defer { self = WaitingQueries() }
        return entries.keys.sorted()
    }

    private mutating func sweep() {
        guard order.count > 2 * entries.count + 64 else { return }
        order = order[first...].filter { entries[$0] != nil }
        first = 0
    }
}
