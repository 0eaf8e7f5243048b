import Basics

/// Where a worker stands with its provider and with the database, and so what it does next. A value: time is an argument, and
/// ``DeliveryWorker`` performs the steps.
///
/// ```
/// starting ──(the database has numbered the start)──► serving ◄──► resting
///                                                        └──(turned away)──► turnedAway ──(the database is told)──► off
/// any ──► stopping
/// ```
struct DeliveryWorkerState: Sendable, Hashable {
    /// The longest sleep: then the database is asked, which notices a clock that drifted and a connection that died.
    static let heartbeat = Duration.seconds(15)
    /// The longest rest; then the provider is tried again.
    static let longestRest = Duration.seconds(900)

    private enum Phase: Hashable {
        /// The database doesn't know of this start yet.
        case starting
        /// The database has numbered it.
        case serving(start: Int)
        /// The fault is the provider's own: what waits waits with it.
        case resting(start: Int, until: MonotonicTime)
        /// The provider's server said never again; the database is still to be told.
        case turnedAway(start: Int)
        /// Until the daemon starts anew. `isForAll`: nobody else served it, so nothing is written for it.
        case off(isForAll: Bool)
        case stopping
    }

    /// What is to be done.
    enum Step: Hashable {
        /// To tell the database of this start; then ``started(_:)``.
        case start
        /// To take what is due.
        case lease
        /// The same, after a rest.
        case leaseAgain
        /// To tell the database that this start was turned away; then ``leave(isForAll:)``.
        case turnAway(start: Int)
        /// To delete what waits for a provider that nobody serves.
        case clear
        case sleep(Duration)
        case end
    }

    /// What is done with deliveries that are in stock.
    enum Disposition: Hashable {
        case send
        /// They go back, for others or for later.
        case release(after: Duration)
    }

    private var phase = Phase.starting
    /// Those whose leases the database hasn't answered last.
    private var unanswered: Set<DeliveryKind> = []

    var isStopping: Bool { phase == .stopping }
    /// Whether what isn't urgent may be leased, too.
    var isServing: Bool {
        if case .serving = phase { true } else { false }
    }

    mutating func next(at now: MonotonicTime) -> Step {
        switch phase {
        case .starting: return .start
        case .serving: return .lease
        case .resting(_, let until) where until > now: return .sleep(min(until - now, Self.heartbeat))
        case .resting(let start, _):
            phase = .serving(start: start)
            return .leaseAgain
        case .turnedAway(let start): return .turnAway(start: start)
        case .off(isForAll: true): return .clear
        case .off(isForAll: false): return .sleep(Self.heartbeat)
        case .stopping: return .end
        }
    }

    func disposition(at now: MonotonicTime) -> Disposition {
        switch phase {
        case .serving: .send
        case .resting(_, let until): .release(after: max(.zero, until - now))
        case .starting, .turnedAway, .off, .stopping: .release(after: .zero)
        }
    }

    // MARK: What happens

    /// The database has numbered the start.
    mutating func started(_ start: Int) {
        if case .starting = phase { phase = .serving(start: start) }
    }

    /// The fault is the provider's own.
    ///
    /// - Returns: How long it rests; nil when it does so longer already, or sends nothing anyway. And whether it didn't rest before.
    mutating func rest(for pause: Duration, at now: MonotonicTime) -> (pause: Duration, isNew: Bool)? {
        let pause = min(max(pause, RetryDecision.shortestWait), Self.longestRest)
        switch phase {
        case .serving(let start):
            phase = .resting(start: start, until: now + pause)
            return (pause, true)
        case .resting(let start, let until) where now + pause > until:
            phase = .resting(start: start, until: now + pause)
            return (pause, false)
        default: return nil
        }
    }

    /// The provider's server wants nothing any more.
    ///
    /// - Returns: Whether that is news.
    mutating func turnAway() -> Bool {
        switch phase {
        case .serving(let start), .resting(let start, _):
            phase = .turnedAway(start: start)
            return true
        case .starting, .turnedAway, .off, .stopping: return false
        }
    }

    /// The database knows that this start was turned away.
    ///
    /// - Parameter isForAll: Nobody has started with the provider since.
    mutating func leave(isForAll: Bool) {
        if case .turnedAway = phase { phase = .off(isForAll: isForAll) }
    }

    mutating func stop() {
        phase = .stopping
    }

    /// The database has answered whoever leases this kind, or hasn't.
    ///
    /// - Returns: Whether that is news: the first that has no answer, or that the last of them has one again.
    mutating func noteDatabase(isThere: Bool, for kind: DeliveryKind) -> Bool {
        let hadAll = unanswered.isEmpty
        if isThere { unanswered.remove(kind) } else { unanswered.insert(kind) }
        return unanswered.isEmpty != hadAll
    }
}
