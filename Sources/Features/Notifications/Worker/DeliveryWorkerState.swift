import Basics

/// The state of a worker with its provider and the database, which decides the next step. A value: time is an argument,
/// and ``DeliveryWorker`` performs the steps.
///
/// ```
/// starting ──(the database has numbered the start)──► serving ◄──► resting
///                                                        └──(refused for good)──► turnedAway ──(stored)──► off
/// any ──► stopping
/// ```
struct DeliveryWorkerState: Sendable, Hashable {
    /// The maximum sleep. Then the database is queried, which detects a clock that drifted and a lost connection.
    static let heartbeat = Duration.seconds(15)
    /// The maximum pause. Then the provider is tried again.
    static let longestRest = Duration.seconds(900)

    private enum Phase: Hashable {
        /// The start isn't stored in the database yet.
        case starting
        /// The worker serves the provider. `start` is the number that the database gave this start.
        case serving(start: Int)
        /// An error of the provider itself. Its deliveries wait.
        case resting(start: Int, until: MonotonicTime)
        /// The provider's server has refused it for good. That isn't stored yet.
        case refused(start: Int)
        /// Until the daemon restarts. `isForAll`: no other daemon serves the provider, so no deliveries are written for
        /// it.
        case off(isForAll: Bool)
        case stopping
    }

    /// The next step.
    enum Step: Hashable {
        /// Store the start; then call ``started(_:)``.
        case start
        /// Lease due deliveries.
        case lease
        /// Lease due deliveries after a pause.
        case leaseAgain
        /// Store that this start was refused; then call ``leave(isForAll:)``.
        case storeRefusal(start: Int)
        /// Delete the deliveries of a provider that no daemon serves.
        case clear
        case sleep(Duration)
        case end
    }

    /// The action for deliveries in stock.
    enum Disposition: Hashable {
        case send
        /// Give them back, for others or for later.
        case release(after: Duration)
    }

    private var phase = Phase.starting
    /// The kinds whose last lease the database didn't answer.
    private var unanswered: Set<DeliveryKind> = []

    var isStopping: Bool { phase == .stopping }
    /// Whether deliveries that aren't urgent may be leased too.
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

    // MARK: What happens

    /// Records the number that the database gave this start. Deliveries can be leased from now on.
    mutating func started(_ start: Int) {
        if case .starting = phase { phase = .serving(start: start) }
    }

    /// Records an error of the provider itself.
    ///
    /// - Returns: The length of the pause, and whether it is a new one; nil if a longer pause is in progress or nothing
    ///   is sent anyway.
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

    /// Records that the provider's server has refused it for good.
    ///
    /// - Returns: Whether that is new.
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
    /// - Parameter isForAll: Whether no daemon has started with the provider since.
    mutating func leave(isForAll: Bool) {
        if case .refused = phase { phase = .off(isForAll: isForAll) }
    }

    mutating func stop() {
        phase = .stopping
    }

    /// Records whether the database has answered the lease of this kind.
    ///
    /// - Returns: Whether that is news: the first unanswered kind, or the last one that is answered again.
    mutating func noteDatabase(isThere: Bool, for kind: DeliveryKind) -> Bool {
        let hadAll = unanswered.isEmpty
        if isThere { unanswered.remove(kind) } else { unanswered.insert(kind) }
        return unanswered.isEmpty != hadAll
    }
}
