import Basics

/// Decides which query goes to which connection, when connections are opened and closed, and when a wait is over. No
/// I/O: what happens goes in with the time, actions come out, and `Pool` performs them.
///
/// ```
///   submit → waiting ──send──▶ in flight ──finished──▶ answered
///               │ silence          │ silence, deadline, connection lost
///               ▼                  ▼
///              fail          fail (outcome unknown)
///
///   connect → connecting ──▶ ready ──▶ leaving ──▶ ending ──closed──▶ gone
///                  │         │   ▲          aged, or its head is overdue   ▲
///                  │  silent ▼   │ heard              ▲                    │ lost, from any state
///                  │        stalled ──────────────────┘                    │
///                  ▼                its place is needed                  until
///               back-off
/// ```
///
/// A stalled connection's queries have failed, but it may come round, and takes no more until then. One that is ending holds
/// its place until the server has hung up too, because a statement may still run there: what counts against `maxConnections`
/// is what the server has, not what we have given up. A network that is gone never tells, so a pool that has waited for
/// `endPatience` and has no other connection may have one more, however many are ending.
///
/// Silence is what a wait is measured against (`stallTimeout`), not its length: a burst that moves on may queue for longer,
/// and a server that has stopped answering keeps nobody waiting.
struct PoolStateMachine {
    typealias Instant = ContinuousClock.Instant
    typealias QueryID = UInt64
    typealias ConnectionID = UInt64

    /// A connection lost sooner than this after it was opened counts as a failed attempt.
    static let shortLife: Duration = .seconds(1)
    /// What the neighbours of a query that overran its deadline get to finish, once it has been cancelled.
    static let cancelGrace: Duration = .seconds(1)

    let configuration: PostgresConfiguration
    /// In 0..<1, for jitter.
    let random: @Sendable () -> Double
    var slots = Slots()
    var waiting: WaitingQueries
    var queries: [QueryID: Query] = [:]
    /// When `tick` is to be called at the latest.
    var wakeAt: Instant?
    /// When the server was last heard on any connection.
    private var lastReceivedAt: Instant?
    var lastConnection: ConnectionID = 0
    private var backoff: Backoff
    var nextAttempt: Instant?
    private var lastFailure: String?
    var hasConnected = false
    var stopping = false
    private var stopped = false

    init(configuration: PostgresConfiguration, random: @escaping @Sendable () -> Double) {
        self.configuration = configuration
        self.random = random
        self.waiting = WaitingQueries()
        self.backoff = Backoff(minimum: configuration.minBackoff, maximum: configuration.maxBackoff)
    }

    var counts: PostgresPoolCounts {
        let census = slots.census
        return PostgresPoolCounts(
            connections: slots.count - census.connecting - census.ending, connecting: census.connecting,
            ending: census.ending, inFlight: slots.all.reduce(0) { $0 + $1.inFlight.count }, waiting: waiting.count)
    }

    // MARK: - Queries

    mutating func submit(_ query: QueryID, deadline: Instant, now: Instant) -> [Action] {
        guard !stopping else { return [.fail(query, .shutDown)] }
        guard waiting.count < configuration.maxWaiters else { return [.fail(query, .tooManyWaiters)] }
        waiting.append(WaitingQueries.Entry(id: query, submittedAt: now, deadline: deadline))
        wake(at: min(deadline, now + configuration.stallTimeout))
        return advance(now)
    }

    /// The caller has gone. In flight, the query runs on, and its deadline still guards the connection.
    mutating func cancel(_ query: QueryID, now: Instant) -> [Action] {
        if waiting.remove(query) { return advance(now) }
        queries[query]?.abandoned = true
        return []
    }

    /// The connection answered its oldest query.
    mutating func finished(
        _ query: QueryID, on connection: ConnectionID, health: ConnectionHealth = .healthy, now: Instant
    ) -> [Action] {
        queries[query] = nil
        guard slots[connection] != nil else { return [] }
        slots.update(connection) {
            $0.inFlight.removeAll { $0 == query }
            $0.idleSince = now
        }
        noteReceived(connection, now)
        replace(connection, health, now)
        return condemnIfHeadOverdue(connection, now) + advance(now)
    }

    // MARK: - Connections

    /// Bytes came on the connection, or it took some, though no query's answer is complete yet.
    mutating func received(_ connection: ConnectionID, now: Instant) -> [Action] {
        noteReceived(connection, now)
        return advance(now)
    }

    mutating func connected(_ connection: ConnectionID, now: Instant) -> [Action] {
        guard var slot = slots[connection] else { return [] }
        backoff.reset()
        nextAttempt = nil
        lastFailure = nil
        hasConnected = true
        slot.state = .ready
        slot.openedAt = now
        slot.idleSince = now
        slot.retireAt = now + configuration.maxAge - configuration.maxAgeJitter * random()
        wake(at: slot.retireAt)
        slots[connection] = slot
        return advance(now)
    }

    mutating func connectFailed(_ connection: ConnectionID, message: String, now: Instant) -> [Action] {
        guard slots.remove(connection) != nil else { return [] }
        noteFailure(message, now)
        return advance(now)
    }

    /// A connection that was up has gone, and its queries with it.
    mutating func lost(_ connection: ConnectionID, message: String, now: Instant) -> [Action] {
        guard let slot = slots.remove(connection) else { return [] }
        guard slot.endingSince == nil else { return advance(now) }
        // A server that accepts and hangs up at once must not be hammered.
        if now - slot.openedAt < Self.shortLife { noteFailure(message, now) }
        return fail(slot, .connectionLost(message)) + advance(now)
    }

    /// The server has ended a connection that was hung up.
    mutating func closed(_ connection: ConnectionID, now: Instant) -> [Action] {
        guard slots[connection]?.endingSince != nil else { return [] }
        slots[connection] = nil
        return advance(now)
    }

    // MARK: - Time and end

    /// Due at `wakeAt`; harmless at any other time.
    mutating func tick(_ now: Instant) -> [Action] {
        var actions: [Action] = []
        for query in waiting.removeOverdue(now, lastReceivedAt: lastReceivedAt, patience: configuration.stallTimeout) {
            actions.append(.fail(query, .noConnection(lastFailure: lastFailure)))
        }
        for slot in slots.all {
            let connection = slot.id
            actions += failIfSilent(connection, now)
            for query in slot.inFlight {
                guard let state = queries[query], !state.overdue, state.deadline <= now else { continue }
                if !state.abandoned { actions.append(.fail(query, .timedOut)) }
                queries[query]?.overdue = true
                queries[query]?.abandoned = true
            }
            actions += condemnIfHeadOverdue(connection, now)
            actions += retire(connection, now)
        }
        actions += advance(now)
        wakeAt = nextDeadline(now)
        return actions
    }

    mutating func shutDown(now: Instant) -> [Action] {
        guard !stopping else { return [] }
        stopping = true
        let end = now + configuration.shutdownTimeout
        var actions = waiting.removeAll().map { Action.fail($0, .shutDown) }
        for slot in slots.all {
            switch slot.state {
            case .connecting:
                slots[slot.id] = nil
                actions.append(.close(slot.id))
            case .ending:
                slots[slot.id] = nil
                actions.append(.forget(slot.id))
            case .ready, .stalled, .leaving:
                slots[slot.id]?.state = .leaving(by: end)
                wake(at: end)
            }
        }
        return actions + advance(now)
    }
}

// MARK: - Decisions

extension PoolStateMachine {
    /// What follows from any change: empty connections that leave are closed, waiting queries are sent, connections are
    /// opened. O(connections) for each query sent.
    private mutating func advance(_ now: Instant) -> [Action] {
        var actions = closeEmpty(now)
        while !waiting.isEmpty, let (id, lastReceivedAt) = slots.leastBusy(limit: configuration.maxPipelined),
            let query = waiting.popFirst()
        {
            queries[query.id] = Query(submittedAt: query.submittedAt, deadline: query.deadline)
            slots.update(id) { $0.inFlight.append(query.id) }
            wake(at: min(query.deadline, max(query.submittedAt, lastReceivedAt) + configuration.stallTimeout))
            actions.append(.send(query.id, on: id))
        }
        actions += open(now)
        if stopping, !stopped, slots.isEmpty {
            stopped = true
            actions.append(.stopped)
        }
        if slots.count > 1 { wake(at: now + configuration.idleTimeout) }
        return actions
    }

    private mutating func noteFailure(_ message: String, _ now: Instant) {
        lastFailure = message
        let next = now + backoff.next(random: random())
        nextAttempt = next
        wake(at: next)
    }

    /// A connection whose oldest query is overdue is done for: the query is cancelled, and those behind it get a moment, if
    /// anybody waits for them.
    private mutating func condemnIfHeadOverdue(_ connection: ConnectionID, _ now: Instant) -> [Action] {
        guard let slot = slots[connection], let head = slot.inFlight.first, queries[head]?.overdue == true else {
            return []
        }
        guard !slot.isCondemned else { return [] }
        guard isAwaited(slot) else { return hangUp(connection, now) }
        slots[connection]?.state = .leaving(by: now + Self.cancelGrace)
        wake(at: now + Self.cancelGrace)
        return [.cancelRunning(connection)]
    }

    /// By age, by idleness, and at the end of a grace.
    private mutating func retire(_ connection: ConnectionID, _ now: Instant) -> [Action] {
        guard let slot = slots[connection] else { return [] }
        switch slot.state {
        case .connecting, .stalled: return []
        case .leaving(by: let end):
            guard let end, end <= now else { return [] }
            let failed = fail(slot, .connectionLost("the connection did not answer in time"))
            return failed + hangUp(connection, now)
        case .ending(_, until: let end):
            guard end <= now else { return [] }
            slots[connection] = nil
            return [.forget(connection)]
        case .ready:
            let idle = slot.inFlight.isEmpty && slot.idleSince + configuration.idleTimeout <= now
            if slot.retireAt <= now || (idle && readyCount > 1) { slots[connection]?.state = .leaving(by: nil) }
            return []
        }
    }

    private mutating func fail(_ slot: Slot, _ failure: Failure) -> [Action] {
        slot.inFlight.compactMap { query in
            guard let state = queries.removeValue(forKey: query), !state.abandoned else { return nil }
            return .fail(query, failure)
        }
    }

    /// A connection that may not write leaves together with all that are old enough: they will hardly be better.
    private mutating func replace(_ connection: ConnectionID, _ health: ConnectionHealth, _ now: Instant) {
        guard let slot = slots[connection], health.asksForReplacement(age: now - slot.openedAt) else { return }
        for other in slots.all where other.isReady {
            guard other.id == connection || health.asksForReplacementOfOthers(age: now - other.openedAt) else {
                continue
            }
            slots[other.id]?.state = .leaving(by: nil)
        }
    }

    private mutating func noteReceived(_ connection: ConnectionID, _ now: Instant) {
        lastReceivedAt = now
        slots.update(connection) {
            $0.lastReceivedAt = now
            if case .stalled = $0.state { $0.state = .ready }
        }
    }

    /// Fails the queries for which the connection has been silent too long. It is kept, because it may be the query that
    /// takes so long; the deadline ends it. Idle connections that have heard nothing lately either may be as dead: they are
    /// closed, rather than that the next queries find out one by one.
    private mutating func failIfSilent(_ connection: ConnectionID, _ now: Instant) -> [Action] {
        guard let slot = slots[connection], !slot.isConnecting else { return [] }
        let silent = slot.inFlight.filter { query in
            guard let state = queries[query] else { return false }
            return max(state.submittedAt, slot.lastReceivedAt) + configuration.stallTimeout <= now
        }
        guard !silent.isEmpty else { return [] }
        if slot.isReady {
            slots[connection]?.state = .stalled
            for other in slots.all where other.isReady && other.inFlight.isEmpty {
                if other.lastReceivedAt + configuration.stallTimeout <= now {
                    slots[other.id]?.state = .leaving(by: nil)
                }
            }
        }
        return silent.compactMap { query in
            guard queries[query]?.abandoned == false else { return nil }
            queries[query]?.abandoned = true
            return .fail(query, .stalled)
        }
    }

    /// When the connection will have been silent for too long, as things are.
    private func silenceEnd(_ slot: Slot) -> Instant? {
        guard !slot.isConnecting else { return nil }
        // Of a stalled one those behind the head alone have somebody waiting.
        let first = slot.inFlight.lazy.compactMap { queries[$0] }.first { !$0.abandoned || slot.isReady }
        return first.map { max($0.submittedAt, slot.lastReceivedAt) + configuration.stallTimeout }
    }

    mutating func wake(at instant: Instant) {
        wakeAt = wakeAt.map { min($0, instant) } ?? instant
    }

    /// The last one stays, however idle.
    private var readyCount: Int { slots.census.ready }

    /// O(queries in flight and waiting), once per tick.
    private func nextDeadline(_ now: Instant) -> Instant? {
        var deadlines: [Instant] = []
        if let first = waiting.nextGiveUp(lastReceivedAt: lastReceivedAt, patience: configuration.stallTimeout) {
            deadlines.append(first)
        }
        if let nextAttempt, nextAttempt > now, !waiting.isEmpty || configuration.keepAlive {
            deadlines.append(nextAttempt)
        }
        let readyCount = readyCount
        for slot in slots.all {
            if let end = silenceEnd(slot) { deadlines.append(end) }
            deadlines += slot.inFlight.compactMap { queries[$0] }.filter { !$0.overdue }.map(\.deadline)
            switch slot.state {
            case .connecting, .stalled: break
            case .leaving(by: let end): if let end { deadlines.append(end) }
            case .ending(let since, let end):
                let overdue = since + configuration.endPatience
                deadlines.append(overdue > now ? overdue : end)
            case .ready:
                deadlines.append(slot.retireAt)
                if readyCount > 1, slot.inFlight.isEmpty {
                    deadlines.append(slot.idleSince + configuration.idleTimeout)
                }
            }
        }
        return deadlines.min()
    }
}
