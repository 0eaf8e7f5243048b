/// Decides which query goes to which connection, when connections are opened and closed, and when a wait is over. No
/// I/O: what happens goes in with the time, actions come out, and `Pool` performs them.
///
/// ```
///   submit → waiting ──send──▶ in flight ──finished──▶ answered
///               │ acquireTimeout   │ deadline, connection lost
///               ▼                  ▼
///              fail          fail (outcome unknown)
///
///   connect → connecting ──▶ ready ──▶ leaving ──▶ closed
///                  │           │ lost       aged, or its head is overdue
///                  ▼           ▼
///               back-off    gone
/// ```
struct PoolStateMachine {
    typealias Instant = ContinuousClock.Instant
    typealias QueryID = UInt64
    typealias ConnectionID = UInt64

    enum Action: Equatable {
        case connect(ConnectionID)
        case send(QueryID, on: ConnectionID)
        case fail(QueryID, Failure)
        /// Ask the server to cancel what the connection runs now.
        case cancelRunning(ConnectionID)
        /// Close a connection, or give up opening it; the machine has forgotten it.
        case close(ConnectionID)
        /// After `shutDown`, once: no query and no connection is left.
        case stopped
    }

    enum Failure: Equatable {
        case noConnection(lastFailure: String?)
        case tooManyWaiters
        /// In flight when its deadline passed.
        case timedOut
        case connectionLost(String)
        case shutDown
    }

    /// A connection, from the decision to open it.
    struct Slot {
        enum State: Equatable {
            case connecting
            case ready
            /// Takes no more queries; closed when empty, or at `by` at the latest.
            case leaving(by: Instant?)
        }
        var state = State.connecting
        /// In the order sent, which is the order of the answers. At most `maxPipelined`.
        var inFlight: [QueryID] = []
        var openedAt: Instant
        var retireAt: Instant
        var idleSince: Instant

        /// Leaving because it doesn't answer.
        var isCondemned: Bool {
            if case .leaving(by: .some) = state { return true }
            return false
        }
    }

    struct Query {
        let deadline: Instant
        /// Nobody waits any more: timed out or cancelled.
        var abandoned = false
        var overdue = false
    }

    /// A connection lost sooner than this after it was opened counts as a failed attempt.
    static let shortLife: Duration = .seconds(1)
    /// What the neighbours of a query that overran its deadline get to finish, once it has been cancelled.
    static let cancelGrace: Duration = .seconds(1)

    let configuration: PostgresConfiguration
    /// In 0..<1, for jitter.
    let random: @Sendable () -> Double
    var slots: [ConnectionID: Slot] = [:]
    var waiting: WaitingQueries
    var queries: [QueryID: Query] = [:]
    /// When `tick` is to be called at the latest.
    var wakeAt: Instant?
    private var lastConnection: ConnectionID = 0
    private var backoff: Backoff
    private var nextAttempt: Instant?
    private var lastFailure: String?
    private var hasConnected = false
    private var stopping = false
    private var stopped = false

    init(configuration: PostgresConfiguration, random: @escaping @Sendable () -> Double) {
        self.configuration = configuration
        self.random = random
        self.waiting = WaitingQueries()
        self.backoff = Backoff(minimum: configuration.minBackoff, maximum: configuration.maxBackoff)
    }

    var counts: PostgresPoolCounts {
        var counts = PostgresPoolCounts(waiting: waiting.count)
        for slot in slots.values {
            if slot.state == .connecting { counts.connecting += 1 } else { counts.connections += 1 }
            counts.inFlight += slot.inFlight.count
        }
        return counts
    }

    // MARK: - Queries

    mutating func submit(_ query: QueryID, deadline: Instant, now: Instant) -> [Action] {
        guard !stopping else { return [.fail(query, .shutDown)] }
        guard waiting.count < configuration.maxWaiters else { return [.fail(query, .tooManyWaiters)] }
        let giveUp = min(deadline, now + configuration.acquireTimeout)
        waiting.append(query, giveUp: giveUp, deadline: deadline)
        wake(at: giveUp)
        return advance(now)
    }

    /// The caller has gone. In flight, the query runs on, and its deadline still guards the connection.
    mutating func cancel(_ query: QueryID, now: Instant) -> [Action] {
        if waiting.remove(query) { return advance(now) }
        queries[query]?.abandoned = true
        return []
    }

    /// The connection answered its oldest query. `retire`: it should take no more.
    mutating func finished(_ query: QueryID, on connection: ConnectionID, retire: Bool = false, now: Instant)
        -> [Action]
    {
        queries[query] = nil
        guard var slot = slots[connection] else { return [] }
        slot.inFlight.removeAll { $0 == query }
        slot.idleSince = now
        if retire, slot.state == .ready { slot.state = .leaving(by: nil) }
        slots[connection] = slot
        return condemnIfHeadOverdue(connection, now) + advance(now)
    }

    // MARK: - Connections

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
        guard slots.removeValue(forKey: connection) != nil else { return [] }
        noteFailure(message, now)
        return advance(now)
    }

    /// A connection that was up has gone, and its queries with it.
    mutating func lost(_ connection: ConnectionID, message: String, now: Instant) -> [Action] {
        guard let slot = slots.removeValue(forKey: connection) else { return [] }
        // A server that accepts and hangs up at once must not be hammered.
        if now - slot.openedAt < Self.shortLife { noteFailure(message, now) }
        return fail(slot, .connectionLost(message)) + advance(now)
    }

    // MARK: - Time and end

    /// Due at `wakeAt`; harmless at any other time.
    mutating func tick(_ now: Instant) -> [Action] {
        var actions: [Action] = []
        for query in waiting.removeOverdue(now) {
            actions.append(.fail(query, .noConnection(lastFailure: lastFailure)))
        }
        for (connection, slot) in slots.sorted(by: { $0.key < $1.key }) {
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
        for (connection, slot) in slots.sorted(by: { $0.key < $1.key }) {
            if slot.state == .connecting {
                slots[connection] = nil
                actions.append(.close(connection))
            } else {
                slots[connection]?.state = .leaving(by: end)
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
        var actions = closeEmpty()
        while let (id, slot) = leastBusy, let query = waiting.popFirst() {
            queries[query.id] = Query(deadline: query.deadline)
            let inFlight = slot.inFlight + [query.id]
            slots[id]?.inFlight = inFlight
            wake(at: query.deadline)
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

    /// The ready connection with the fewest queries in flight and room for one more.
    private var leastBusy: (ConnectionID, Slot)? {
        slots.lazy.filter { $0.value.state == .ready && $0.value.inFlight.count < configuration.maxPipelined }
            .min { ($0.value.inFlight.count, $0.key) < ($1.value.inFlight.count, $1.key) }
            .map { ($0.key, $0.value) }
    }

    private mutating func closeEmpty() -> [Action] {
        var actions: [Action] = []
        for (connection, slot) in slots.sorted(by: { $0.key < $1.key }) where slot.inFlight.isEmpty {
            guard case .leaving = slot.state else { continue }
            slots[connection] = nil
            actions.append(.close(connection))
        }
        return actions
    }

    /// Connections for those who wait; one more when queries queue up behind others on all of them; one at a time while
    /// the database is away.
    private mutating func open(_ now: Instant) -> [Action] {
        guard !stopping else { return [] }
        let connecting = slots.values.count { $0.state == .connecting }
        var wanted = waiting.count
        if wanted == 0 {
            let ready = slots.values.filter { $0.state == .ready }
            // Least busy first: when one has two in flight, none is idle.
            if ready.contains(where: { $0.inFlight.count > 1 }), ready.allSatisfy({ !$0.inFlight.isEmpty }) {
                wanted = 1
            }
            if slots.isEmpty, configuration.keepAlive, hasConnected { wanted = 1 }
        }
        // One that is done for may take a moment to go: its place is free already, within reason.
        let condemned = slots.values.count { $0.isCondemned }
        let room = min(configuration.maxConnections + condemned, 2 * configuration.maxConnections) - slots.count
        wanted = min(wanted - connecting, room)
        guard wanted > 0 else { return [] }
        if let nextAttempt {
            guard connecting == 0 else { return [] }
            guard nextAttempt <= now else {
                wake(at: nextAttempt)
                return []
            }
            wanted = 1
        }
        return (0..<wanted).map { _ in
            lastConnection += 1
            slots[lastConnection] = Slot(openedAt: now, retireAt: now, idleSince: now)
            return .connect(lastConnection)
        }
    }

    private mutating func noteFailure(_ message: String, _ now: Instant) {
        lastFailure = message
        let next = now + backoff.next(random: random())
        nextAttempt = next
        wake(at: next)
    }

    /// A connection whose oldest query is overdue is done for: the query is cancelled, and those behind it get a moment.
    private mutating func condemnIfHeadOverdue(_ connection: ConnectionID, _ now: Instant) -> [Action] {
        guard let slot = slots[connection], let head = slot.inFlight.first, queries[head]?.overdue == true else {
            return []
        }
        guard !slot.isCondemned else { return [] }
        slots[connection]?.state = .leaving(by: now + Self.cancelGrace)
        wake(at: now + Self.cancelGrace)
        return [.cancelRunning(connection)]
    }

    /// By age, by idleness, and at the end of a grace.
    private mutating func retire(_ connection: ConnectionID, _ now: Instant) -> [Action] {
        guard let slot = slots[connection] else { return [] }
        switch slot.state {
        case .connecting: return []
        case .leaving(by: let end):
            guard let end, end <= now else { return [] }
            slots[connection] = nil
            return fail(slot, .connectionLost("the connection did not answer in time")) + [.close(connection)]
        case .ready:
            let idle = slot.inFlight.isEmpty && slot.idleSince + configuration.idleTimeout <= now
            let isOnly = slots.values.count { $0.state == .ready } == 1
            if slot.retireAt <= now || (idle && !isOnly) { slots[connection]?.state = .leaving(by: nil) }
            return []
        }
    }

    private mutating func fail(_ slot: Slot, _ failure: Failure) -> [Action] {
        slot.inFlight.compactMap { query in
            guard let state = queries.removeValue(forKey: query), !state.abandoned else { return nil }
            return .fail(query, failure)
        }
    }

    private mutating func wake(at instant: Instant) {
        wakeAt = wakeAt.map { min($0, instant) } ?? instant
    }

    /// O(queries in flight and waiting), once per tick.
    private func nextDeadline(_ now: Instant) -> Instant? {
        var deadlines: [Instant] = []
        if let first = waiting.nextGiveUp { deadlines.append(first) }
        if let nextAttempt, nextAttempt > now, !waiting.isEmpty || configuration.keepAlive {
            deadlines.append(nextAttempt)
        }
        for slot in slots.values {
            deadlines += slot.inFlight.compactMap { queries[$0] }.filter { !$0.overdue }.map(\.deadline)
            switch slot.state {
            case .connecting: break
            case .leaving(by: let end): if let end { deadlines.append(end) }
            case .ready:
                deadlines.append(slot.retireAt)
                if slots.count > 1, slot.inFlight.isEmpty {
                    deadlines.append(slot.idleSince + configuration.idleTimeout)
                }
            }
        }
        return deadlines.min()
    }
}
