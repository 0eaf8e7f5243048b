import Basics

/// Decides the next step of a worker, from the state of its provider and the database. A value type: time is an
/// argument, and ``DeliveryWorker`` performs the steps.
///
/// ```
/// starting ──(the database has numbered the start)──► serving ◄──► resting
///                                                        └──(refused for good)──► turnedAway ──(stored)──► off
/// any ──► stopping
/// ```
struct DeliveryWorkerState: Sendable, Hashable {
    /// The maximum sleep. The query after it notices a clock that drifted, or a lost connection.
    static let heartbeat = Duration.seconds(15)
    /// The maximum pause of a provider before it is tried again.
    static let longestRest = Duration.seconds(900)

    private enum Phase: Hashable {
        /// The worker isn't registered in the database yet.
        case starting
        /// The worker serves the provider. `start` is the number by which the database distinguishes this run of the
        /// worker from earlier and later ones.
        case serving(start: Int)
        /// The provider pauses after an error that concerns all deliveries. Its deliveries wait.
        case resting(start: Int, until: MonotonicTime)
        /// The provider's server has permanently refused it. The refusal isn't stored yet.
        case refused(start: Int)
        /// The provider is off until the daemon restarts. `isForAll` means that no other daemon serves the provider, so
        /// no deliveries are written for it.
        case off(isForAll: Bool)
        case stopping
    }

    /// The next step.
    enum Step: Hashable {
        /// Register the worker, and then call ``started(_:)``.
        case start
        /// Lease due deliveries.
        case lease
        /// Lease due deliveries after a pause.
        case leaseAgain
        /// Store that the run with this number was refused, and then call ``leave(isForAll:)``.
        case storeRefusal(start: Int)
        /// Delete the deliveries of a provider that no daemon serves.
        case clear
        case sleep(Duration)
        case end
    }

    /// The action for the deliveries in stock.
    enum Disposition: Hashable {
        case send
        /// Give the deliveries back. The deliveries are due again after this time, for any daemon.
        case release(after: Duration)
    }

    private var phase = Phase.starting
    /// The kinds whose last lease failed because the database didn't answer.
    private var unanswered: Set<DeliveryKind> = []

    var isStopping: Bool { phase == .stopping }
    /// Whether the provider is served, so that other deliveries may be leased.
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
        case .refused(let start): return .storeRefusal(start: start)
        case .off(isForAll: true): return .clear
        case .off(isForAll: false): return .sleep(Self.heartbeat)
        case .stopping: return .end
        }
    }

    func disposition(at now: MonotonicTime) -> Disposition {
        switch phase {
        case .serving: .send
        case .resting(_, let until): .release(after: max(.zero, until - now))
        case .starting, .refused, .off, .stopping: .release(after: .zero)
        }
    }

    // MARK: Events

    /// Records the number that the database gave this run of the worker. Deliveries can be leased from now on.
    mutating func started(_ start: Int) {
        if case .starting = phase { phase = .serving(start: start) }
    }

    /// Records an error that concerns all deliveries of the provider.
    ///
    /// - Returns: The length of the pause, and whether the pause is new. `nil` if a longer pause is in progress, or if
    ///   nothing is being sent.
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

    /// Records that the provider's server has permanently refused it.
    ///
    /// - Returns: Whether the refusal is new.
    mutating func markRefused() -> Bool {
        switch phase {
        case .serving(let start), .resting(let start, _):
            phase = .refused(start: start)
            return true
        case .starting, .refused, .off, .stopping: return false
        }
    }

    /// Records that the refusal is stored.
    ///
    /// - Parameter isForAll: Whether no daemon with a later registration serves the provider.
    mutating func leave(isForAll: Bool) {
        if case .refused = phase { phase = .off(isForAll: isForAll) }
    }

    mutating func stop() {
        phase = .stopping
    }

    /// Records whether the database has answered the lease of this kind.
    ///
    /// - Returns: Whether to report the change: the first kind is unanswered, or all kinds are answered again.
    mutating func noteDatabase(isThere: Bool, for kind: DeliveryKind) -> Bool {
        let hadAll = unanswered.isEmpty
        if isThere { unanswered.remove(kind) } else { unanswered.insert(kind) }
        return unanswered.isEmpty != hadAll
    }
}
