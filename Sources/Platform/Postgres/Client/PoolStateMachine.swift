import Basics

/// Decides which connection a query goes to, when connections are opened and closed, and when a wait ends. A value
/// without I/O: events and the time are arguments, and `Pool` performs the returned actions.
///
/// ```
///   submit → waiting ──send──▶ in flight ──finished──▶ answered
///               │ silence          │ silence, deadline, connection lost
///               ▼                  ▼
///              fail          fail (outcome unknown)
///
///   connect → connecting ──▶ ready ──▶ leaving ──▶ ending ──closed──▶ gone
///                  │         │   ▲          aged, or its head is overdue   ▲
///                  │  silent ▼   │ bytes              ▲                    │ lost, from any state
///                  │        stalled ──────────────────┘                    │
///                  ▼                its place is needed                  until
///               back-off
/// ```
///
/// The queries of a stalled connection have failed. The connection takes no more queries until bytes arrive. An ending
/// connection keeps its place until the server has closed it too, because a statement may still run there. The server's
/// connections count against `maxConnections`. On a lost network, the end of a connection is never reported. A pool
/// without a usable connection may therefore open one more after `endPatience`.
///
/// A query in flight fails if its connection receives nothing for `stallTimeout`. A query that hasn't been sent may
/// wait longer, as long as the server answers other queries.
struct PoolStateMachine {
    typealias Instant = ContinuousClock.Instant
    typealias QueryID = UInt64
    typealias ConnectionID = UInt64

    /// If a connection is lost within this time after it was opened, the attempt counts as failed.
    static let shortLife: Duration = .seconds(1)
    /// The time for the queries behind an overdue query on the same connection, after the overdue query was cancelled.
    static let cancelGrace: Duration = .seconds(1)

    let configuration: PostgresConfiguration
    /// Returns a random number in 0..<1, for jitter.
    let random: @Sendable () -> Double
    var slots = Slots()
    var waiting: WaitingQueries
    var queries: [QueryID: Query] = [:]
    /// The latest time at which `tick` must be called next.
    var wakeAt: Instant?
    /// The time at which the last bytes arrived from the server, on any connection.
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

    /// - Parameter owner: The network of the client for which the query runs. `nil` means the daemon itself.
    mutating func submit(
        _ query: QueryID, of owner: WaitingQueries.Owner = nil, deadline: Instant, now: Instant
    ) -> [Action] {
        guard !stopping else { return [.fail(query, .shutDown)] }
        var failed: [Action] = []
        if waiting.count >= configuration.maxWaiters {
            guard let excess = waiting.removeExcess(for: owner) else { return [.fail(query, .tooManyWaiters)] }
            failed = [.fail(excess, .tooManyWaiters)]
        }
        waiting.append(WaitingQueries.Entry(id: query, owner: owner, submittedAt: now, deadline: deadline))
        wake(at: min(deadline, now + configuration.stallTimeout))
        return failed + advance(now)
    }

    /// Cancels a query for its caller. A query in flight continues, and its deadline still applies to the connection.
    mutating func cancel(_ query: QueryID, now: Instant) -> [Action] {
        if waiting.remove(query) { return advance(now) }
        queries[query]?.abandoned = true
        return []
    }

    /// Handles the answer to the connection's oldest query.
    mutating func finished(
        _ query: QueryID, on connection: ConnectionID, health: ConnectionHealth = .healthy, now: Instant
    ) -> [Action] {
        queries[query] = nil
        guard slots[connection] != nil else { return [] }
        slots.update(connection) {
            $0.remove(query)
            $0.idleSince = now
        }
        noteReceived(connection, now)
        replace(connection, health, now)
        return condemnIfHeadOverdue(connection, now) + advance(now)
    }

    // MARK: - Connections

    /// Records that the connection received or sent bytes. The answer may still be incomplete.
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

    /// Handles the loss of an open connection and its queries.
    mutating func lost(_ connection: ConnectionID, message: String, now: Instant) -> [Action] {
        guard let slot = slots.remove(connection) else { return [] }
        guard slot.endingSince == nil else { return advance(now) }
        // If the server accepts connections and closes them at once, the next attempts are delayed as after a failure.
        if now - slot.openedAt < Self.shortLife { noteFailure(message, now) }
        return fail(slot, .connectionLost(message)) + advance(now)
    }

    /// Records that the server has closed a connection that the pool had closed before.
    mutating func closed(_ connection: ConnectionID, now: Instant) -> [Action] {
        guard slots[connection]?.endingSince != nil else { return [] }
        slots[connection] = nil
        return advance(now)
    }

    // MARK: - Time and end

    /// Does everything that is due at `now`. Must be called at `wakeAt`, and may be called at any time.
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
                actions.append(.discard(slot.id))
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
    /// Does the work that may follow any change: closes leaving connections without queries, sends waiting queries, and
    /// opens connections. O(connections) for each query that is sent.
    private mutating func advance(_ now: Instant) -> [Action] {
        var actions = closeEmpty(now)
        let (limit, most) = (configuration.maxPipelined, configuration.maxConnectionsPerRequester)
        let isOpening = nextAttempt == nil && slots.census.connecting > 0
        while !waiting.isEmpty, slots.leastBusy(limit: limit) != nil,
            let (query, (id, lastReceivedAt)) = waiting.popFirst({ [slots] in
                slots.place(for: $0, limit: limit, most: most, isOpening: isOpening)
            })
        {
            queries[query.id] = Query(submittedAt: query.submittedAt, deadline: query.deadline)
            slots.update(id) { $0.append(query.id, of: query.owner) }
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

    /// Cancels the oldest query of a connection if it is overdue, and closes the connection. If callers wait for the
    /// queries behind it, these queries first get a short time to finish.
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

    /// Retires a connection because of its age or idleness, or because its time to finish is over.
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
            return [.discard(connection)]
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

    /// Replaces a connection that can't write. Also replaces the other connections that may have the same fault because
    /// of their age.
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

    /// Fails the queries of a connection that has been silent for too long. The connection is kept, because a single
    /// slow query may be the reason. The deadline of that query ends the connection. Idle connections that were silent
    /// for the same time may also be dead. The pool closes these connections, so that the next queries don't fail on
    /// them one by one.
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

    /// Returns the time at which the connection will have been silent for too long, if no bytes arrive.
    private func silenceEnd(_ slot: Slot) -> Instant? {
        guard !slot.isConnecting else { return nil }
        // On a stalled connection, callers wait only for the queries that were sent later.
        let first = slot.inFlight.lazy.compactMap { queries[$0] }.first { !$0.abandoned || slot.isReady }
        return first.map { max($0.submittedAt, slot.lastReceivedAt) + configuration.stallTimeout }
    }

    mutating func wake(at instant: Instant) {
        wakeAt = wakeAt.map { min($0, instant) } ?? instant
    }

    /// The number of ready connections. The last one is kept, even if it is idle.
    private var readyCount: Int { slots.census.ready }

    /// Returns the next time at which something is due. O(queries in flight and waiting), once per tick.
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
