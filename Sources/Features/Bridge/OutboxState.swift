import Basics

/// What the outbox does next: decides, and does nothing. Time and chance are arguments; ``BridgeOutbox`` acts on it.
///
/// | the broker is | there may be something | nothing, as far as is known | after a failure, or while another daemon sends |
/// |---------------|------------------------|-----------------------------|------------------------------------------------|
/// | there         | a round                | sleeps                      | sleeps, then a round                           |
/// | away          | sleeps                 | sleeps                      | sleeps                                         |
///
/// Whether there is something is looked at now and then in any case; and while the broker is away the database is told that this daemon
/// waits for it.
struct OutboxState: Sendable, Hashable {
    /// The longest time without a look.
    static let heartbeat: Duration = .seconds(300)
    /// While the broker is away: how many wait is told.
    static let awayHeartbeat: Duration = .seconds(30)
    /// The time that clients get to declare their queues after a connection to the broker was made. The broker may have restarted just
    /// before, also if this daemon is new. RMQClient connects again after 4 seconds, bunny after 5.
    static let settlingTime: Duration = .seconds(10)
    /// The database is away: another look.
    private static let databasePause: Duration = .seconds(1)

    enum Step: Hashable {
        /// What is there is taken, published, and finished.
        case round
        /// The database is told that there is a daemon with a broker.
        case see
        case sleep(Duration)
        case end
    }

    /// How a round has ended.
    enum Outcome: Hashable {
        /// Everything, or as much as goes in a round.
        case done(mayBeMore: Bool)
        case held(for: Duration)
        case brokerFailed
        case databaseFailed
    }

    private let settlingTime: Duration
    private var isConnected = false
    /// Nothing is published before this time.
    private var settledAt: MonotonicTime
    private var isStopping = false
    /// Since the last round somebody said so, or none has been.
    private var hasNews = true
    private var pauseEnd: MonotonicTime?
    private var lookedAt: MonotonicTime
    private var backoff = Backoff(minimum: .milliseconds(200), maximum: .seconds(5))

    init(at now: MonotonicTime, settlingTime: Duration = Self.settlingTime) {
        self.settlingTime = settlingTime
        settledAt = now
        lookedAt = now
    }

    /// Whether messages may be published now.
    func maySend(at now: MonotonicTime) -> Bool { isConnected && now >= settledAt }

    mutating func next(at now: MonotonicTime) -> Step {
        guard !isStopping else { return .end }
        let pauseEnd = max(pauseEnd ?? now, isConnected ? settledAt : now)
        if pauseEnd > now { return .sleep(min(pauseEnd - now, Self.heartbeat)) }
        let heartbeat = isConnected ? Self.heartbeat : Self.awayHeartbeat
        let isDue = now - lookedAt >= heartbeat
        guard isDue || isConnected && hasNews else { return .sleep(heartbeat - (now - lookedAt)) }
        lookedAt = now
        guard isConnected else { return .see }
        // What is said from now on is news again.
        hasNews = false
        return .round
    }

    // MARK: What happens

    /// Something was said, or may have been.
    mutating func heard() { hasNews = true }

    mutating func connected(at now: MonotonicTime) {
        pauseEnd = nil
        settledAt = now + settlingTime
        isConnected = true
        hasNews = true
        backoff.reset()
    }

    mutating func lost() { isConnected = false }

    mutating func stop() { isStopping = true }

    /// - Parameter random: In 0..<1.
    mutating func ended(_ outcome: Outcome, at now: MonotonicTime, random: Double) {
        switch outcome {
        case .done(let mayBeMore):
            backoff.reset()
            if mayBeMore { hasNews = true }
        case .held(let time):
            hasNews = true
            pauseEnd = now + time
        case .brokerFailed:
            hasNews = true
            pauseEnd = now + backoff.next(random: random)
        case .databaseFailed:
            hasNews = true
            pauseEnd = now + Self.databasePause
        }
    }
}
