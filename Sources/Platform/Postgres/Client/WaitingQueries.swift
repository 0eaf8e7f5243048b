/// Queries that wait for a connection. Each query has an owner: the network of the client for which it runs, or the
/// daemon itself. Owners take turns, and the queries of one owner keep their order.
///
/// ```
/// append ──► line of the owner ──┐
/// append ──► line of another ────┼──► popFirst: one query of the first owner that may go, which is then the last
/// append ──► line of the daemon ─┘
/// ```
struct WaitingQueries {
    /// The network of the client for which a query runs. `nil` means the daemon itself.
    typealias Owner = UInt128?

    struct Entry: Equatable {
        let id: PoolStateMachine.QueryID
        var owner: Owner = nil
        let submittedAt: ContinuousClock.Instant
        let deadline: ContinuousClock.Instant

        /// Returns the time at which the query stops waiting, if the last bytes from the server arrived at
        /// `lastReceivedAt`.
        func giveUp(lastReceivedAt: ContinuousClock.Instant?, patience: Duration) -> ContinuousClock.Instant {
            min(deadline, max(submittedAt, lastReceivedAt ?? submittedAt) + patience)
        }
    }

    /// The queries of one owner.
    private struct Line {
        /// The ids of the queries in order. Ids of removed queries may still be in the list. ``popFirst()`` skips them,
        /// and ``append(_:_:)`` deletes them when they are more than half of the list.
        var ids: [PoolStateMachine.QueryID] = []
        var first = 0
        /// The number of queries that haven't been removed.
        var count = 0

        mutating func append(_ id: PoolStateMachine.QueryID, _ entries: [PoolStateMachine.QueryID: Entry]) {
            if ids.count > 2 * count + 64 {
                ids = ids[first...].filter { entries[$0] != nil }
                first = 0
            }
            ids.append(id)
            count += 1
        }

        /// Returns the next id. Its query may have been removed.
        mutating func popFirst() -> PoolStateMachine.QueryID? {
            guard first < ids.count else { return nil }
            defer { first += 1 }
            return ids[first]
        }
    }

    private var entries: [PoolStateMachine.QueryID: Entry] = [:]
    /// The lines of the owners in `turns`. A line may be empty until its owner's turn comes.
    private var lines: [Owner: Line] = [:]
    private var turns: [Owner] = []
    private var firstTurn = 0

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }
    /// The number of owners in `turns`. The number includes owners whose queries were removed, until ``sweepTurns()``
    /// removes these owners.
    var ownerCount: Int { turns.count - firstTurn }

    mutating func append(_ entry: Entry) {
        if lines[entry.owner] == nil {
            sweepTurns()
            turns.append(entry.owner)
        }
        lines[entry.owner, default: Line()].append(entry.id, entries)
        entries[entry.id] = entry
    }

    /// Removes the oldest query of the first owner for which `find` returns a connection with space. Returns the query
    /// and the result of `find`. The owner then has the last turn.
    mutating func popFirst<Place>(_ find: (Owner) -> Place?) -> (entry: Entry, place: Place)? {
        var passed = 0
        while firstTurn + passed < turns.count {
            let turn = firstTurn + passed
            let owner = turns[turn]
            guard let line = lines[owner], line.count > 0 else {
                removeTurn(at: turn)
                lines[owner] = nil
                continue
            }
            guard let place = find(owner) else {
                passed += 1
                continue
            }
            while let id = lines[owner]?.popFirst() {
                guard let entry = entries.removeValue(forKey: id) else { continue }
                lines[owner]?.count -= 1
                removeTurn(at: turn)
                if lines[owner]?.count == 0 { lines[owner] = nil } else { turns.append(owner) }
                return (entry, place)
            }
            return nil
        }
        return nil
    }

    /// Removes the latest query of the owner with the most queries, if `owner` has at least two queries less. One owner
    /// therefore can't fill the queue.
    mutating func removeExcess(for owner: Owner) -> PoolStateMachine.QueryID? {
        guard let longest = lines.max(by: { $0.value.count < $1.value.count }),
            longest.value.count > (lines[owner]?.count ?? 0) + 1,
            let id = longest.value.ids[longest.value.first...].last(where: { entries[$0] != nil })
        else { return nil }
        _ = remove(id)
        return id
    }

    /// Returns whether the query was waiting.
    mutating func remove(_ id: PoolStateMachine.QueryID) -> Bool {
        guard let entry = entries.removeValue(forKey: id) else { return false }
        lines[entry.owner]?.count -= 1
        return true
    }

    func nextGiveUp(lastReceivedAt: ContinuousClock.Instant?, patience: Duration) -> ContinuousClock.Instant? {
        entries.values.lazy.map { $0.giveUp(lastReceivedAt: lastReceivedAt, patience: patience) }.min()
    }

    /// Removes the queries that have waited for too long, and returns them, the oldest first. O(n).
    mutating func removeOverdue(
        _ now: ContinuousClock.Instant, lastReceivedAt: ContinuousClock.Instant?, patience: Duration
    ) -> [PoolStateMachine.QueryID] {
        let overdue = entries.values.filter { $0.giveUp(lastReceivedAt: lastReceivedAt, patience: patience) <= now }
            .map(\.id)
            .sorted()
        for id in overdue { _ = remove(id) }
        return overdue
    }

    mutating func removeAll() -> [PoolStateMachine.QueryID] {
        defer { self = WaitingQueries() }
        return entries.keys.sorted()
    }

    /// Removes a turn by moving the owners before it. There are few owners before it, because each of them already has
    /// queries on the maximum number of connections.
    private mutating func removeTurn(at turn: Int) {
        for index in stride(from: turn, to: firstTurn, by: -1) { turns[index] = turns[index - 1] }
        firstTurn += 1
        guard firstTurn > 64, 2 * firstTurn > turns.count else { return }
        turns.removeFirst(firstTurn)
        firstTurn = 0
    }

    /// Removes owners without waiting queries from `turns` and `lines`. Does nothing while `turns` is short compared
    /// with the number of queries, because the removal visits all owners.
    private mutating func sweepTurns() {
        guard turns.count - firstTurn > 2 * entries.count + 64 else { return }
        turns = turns[firstTurn...].filter { (lines[$0]?.count ?? 0) > 0 }
        firstTurn = 0
        lines = lines.filter { $0.value.count > 0 }
    }
}
