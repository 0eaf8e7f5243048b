/// Who has a place among the pool's connections, and when it is free again.
extension PoolStateMachine {
    mutating func closeEmpty(_ now: Instant) -> [Action] {
        slots.empty.flatMap { hangUp($0, now) }
    }

    /// Gives a connection up, with what nobody waits for any more on it.
    mutating func hangUp(_ connection: ConnectionID, _ now: Instant) -> [Action] {
        guard let slot = slots[connection] else { return [] }
        var longest = configuration.queryTimeout
        for query in slot.inFlight {
            guard let query = queries.removeValue(forKey: query) else { continue }
            longest = max(longest, query.deadline - query.submittedAt)
        }
        if stopping {
            // None will take its place.
            slots[connection] = nil
        } else {
            let until = now + longest + configuration.serverMargin
            slots.update(connection) {
                $0.inFlight = []
                $0.state = .ending(since: now, until: until)
            }
            wake(at: now + configuration.endPatience)
        }
        return (slot.inFlight.isEmpty ? [] : [.cancelRunning(connection)]) + [.close(connection)]
    }

    /// Connections for those who wait, as many at once, since an attempt may hang, and then others serve; one more when queries queue up
    /// behind others on all of them; one at a time while the database is away.
    mutating func open(_ now: Instant) -> [Action] {
        guard !stopping else { return [] }
        let census = slots.census
        var wanted = waiting.count
        if wanted == 0 {
            // Least busy first: when one has two in flight, none is idle.
            if census.hasQueue, census.idle == 0 { wanted = 1 }
            let isAlone = census.ending == slots.count
            if isAlone, configuration.keepAlive, hasConnected { wanted = 1 }
        }
        wanted -= census.connecting
        guard wanted > 0 else { return [] }
        // As nearly always when it is busy: every place is taken by one that serves.
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

    /// As many as are allowed, and one more when all of them are ending, or silent, and one of them for too long: a network
    /// that is gone would never tell of its end.
    private func maxSlots(_ now: Instant) -> Int {
        let isOverdue = slots.all.contains { slot in
            slot.endingSince.map { $0 + configuration.endPatience <= now } ?? false
        }
        let isServed = slots.all.contains { $0.isReady || $0.isConnecting }
        return configuration.maxConnections + (isOverdue && !isServed ? 1 : 0)
    }

    /// Gives up as many silent connections as places are wanting, the longest silent first: nobody waits for their answers,
    /// and others wait for their places.
    private mutating func makeRoom(for wanted: Int, _ now: Instant) -> [Action] {
        let ending = slots.all.count { $0.endingSince != nil }
        let missing = wanted - ending - (configuration.maxConnections - slots.count)
        guard missing > 0, slots.all.contains(where: { isAbandoned($0) }) else { return [] }
        let abandoned = slots.all.filter { isAbandoned($0) }
            .sorted { ($0.lastReceivedAt, $0.id) < ($1.lastReceivedAt, $1.id) }
        return abandoned.prefix(missing).flatMap { hangUp($0.id, now) }
    }

    /// Takes no queries, and nobody waits for its answers.
    private func isAbandoned(_ slot: Slot) -> Bool {
        switch slot.state {
        case .stalled, .leaving: !isAwaited(slot)
        case .connecting, .ready, .ending: false
        }
    }

    /// Whether somebody waits for one of its answers.
    func isAwaited(_ slot: Slot) -> Bool {
        slot.inFlight.contains { queries[$0]?.abandoned == false }
    }
}
