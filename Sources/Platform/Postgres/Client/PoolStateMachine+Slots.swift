/// The places of the pool's connections.
extension PoolStateMachine {
    mutating func closeEmpty(_ now: Instant) -> [Action] {
        slots.empty.flatMap { hangUp($0, now) }
    }

    /// Closes a connection, including the queries on it that no caller waits for.
    mutating func hangUp(_ connection: ConnectionID, _ now: Instant) -> [Action] {
        guard let slot = slots[connection] else { return [] }
        var longest = configuration.queryTimeout
        for query in slot.inFlight {
            guard let query = queries.removeValue(forKey: query) else { continue }
            longest = max(longest, query.deadline - query.submittedAt)
        }
        if stopping {
            // During the shutdown, the place needn't be kept until the server has closed the connection.
            slots[connection] = nil
        } else {
            let until = now + longest + configuration.serverMargin
            slots.update(connection) {
                $0.removeAll()
                $0.state = .ending(since: now, until: until)
            }
            wake(at: now + configuration.endPatience)
        }
        return (slot.inFlight.isEmpty ? [] : [.cancelRunning(connection)]) + [.close(connection)]
    }

    /// Opens a connection for each waiting query, because one attempt may hang. If no query waits but every connection
    /// has several queries in flight, opens one more. While the database is unavailable, only one attempt is made at a
    /// time.
    mutating func open(_ now: Instant) -> [Action] {
        guard !stopping else { return [] }
        let census = slots.census
        var wanted = waiting.count
        if wanted == 0 {
            // Queries go to the connection with the fewest queries. If no connection is idle and one has two queries,
            // each has at least one.
            if census.hasQueue, census.idle == 0 { wanted = 1 }
            let isAlone = census.ending == slots.count
            if isAlone, configuration.keepAlive, hasConnected { wanted = 1 }
        }
        wanted -= census.connecting
        guard wanted > 0 else { return [] }
        // In a busy pool, connections in use usually take all places, so the search below isn't needed.
        guard slots.count < configuration.maxConnections || census.ready + census.connecting < slots.count else {
            return []
        }
        let cleared = makeRoom(for: wanted, now)
        wanted = min(wanted, maxSlots(now) - slots.count)
        guard wanted > 0 else { return cleared }
        if let nextAttempt {
            guard census.connecting == 0 else { return cleared }
            guard nextAttempt <= now else {
                wake(at: nextAttempt)
                return cleared
            }
            wanted = 1
        }
        return cleared + (0..<wanted).map { _ in connect(now) }
    }

    private mutating func connect(_ now: Instant) -> Action {
        lastConnection += 1
        slots[lastConnection] = Slot(
            id: lastConnection, openedAt: now, retireAt: now, idleSince: now, lastReceivedAt: now)
        return .connect(lastConnection)
    }

    /// Returns the maximum number of places. It is the configured maximum, or one more if no connection is usable and
    /// one has been ending for too long. On a lost network, the end of a connection is never reported.
    private func maxSlots(_ now: Instant) -> Int {
        let isOverdue = slots.all.contains { slot in
            slot.endingSince.map { $0 + configuration.endPatience <= now } ?? false
        }
        let isServed = slots.all.contains { $0.isReady || $0.isConnecting }
        return configuration.maxConnections + (isOverdue && !isServed ? 1 : 0)
    }

    /// Closes stalled connections without waiting callers, because waiting queries need their places. The connection
    /// that has been silent for the longest time is closed first.
    private mutating func makeRoom(for wanted: Int, _ now: Instant) -> [Action] {
        let ending = slots.all.count { $0.endingSince != nil }
        let missing = wanted - ending - (configuration.maxConnections - slots.count)
        guard missing > 0, slots.all.contains(where: { isAbandoned($0) }) else { return [] }
        let abandoned = slots.all.filter { isAbandoned($0) }
            .sorted { ($0.lastReceivedAt, $0.id) < ($1.lastReceivedAt, $1.id) }
        return abandoned.prefix(missing).flatMap { hangUp($0.id, now) }
    }

    /// Whether the connection takes no queries and no caller waits for its answers.
    private func isAbandoned(_ slot: Slot) -> Bool {
        switch slot.state {
        case .stalled, .leaving: !isAwaited(slot)
        case .connecting, .ready, .ending: false
        }
    }

    /// Whether a caller waits for one of the connection's answers.
    func isAwaited(_ slot: Slot) -> Bool {
        slot.inFlight.contains { queries[$0]?.abandoned == false }
    }
}
