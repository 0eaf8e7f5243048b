import Basics

/// Decides the next step of the outbox, which ``BridgeOutbox`` performs. A value type: time and random numbers are
/// arguments.
///
/// ```
/// | the broker is | messages may wait | no messages known | after a failure, or while another daemon publishes |
/// |---------------|-------------------|-------------------|-----------------------------------------------------|
/// | connected     | a round           | sleeps            | sleeps, then a round                                |
/// | unavailable   | sleeps            | sleeps            | sleeps                                              |
/// ```
///
/// The outbox also checks for messages regularly. While the broker is unavailable, the outbox reports to the database
/// that this daemon waits for the broker.
struct OutboxState: Sendable, Hashable {
    /// The maximum time between two checks.
    static let heartbeat: Duration = .seconds(300)
    /// The time between two reports to the database while the broker is unavailable.
    static let unavailableHeartbeat: Duration = .seconds(30)
    /// The time after a new connection for clients to declare their queues. The broker may have just restarted, even if
    /// this daemon is new. RMQClient reconnects after 4 seconds, bunny after 5.
    static let settlingTime: Duration = .seconds(10)
    /// The pause before another attempt after an error of the database.
    private static let databasePause: Duration = .seconds(1)

    enum Step: Hashable {
        /// Take messages, publish them, and remove them.
        case round
        /// Report to the database that this daemon has a broker.
        case see
        case sleep(Duration)
        case end
    }

    /// The result of a round.
    enum Outcome: Hashable {
        /// The messages of this round were published. `mayBeMore` is `true` if the round was full.
        case done(mayBeMore: Bool)
        case held(for: Duration)
        case brokerFailed
        case databaseFailed
    }

    private let settlingTime: Duration
    private var isConnected = false
    /// The time before which nothing is published.
    private var settledAt: MonotonicTime
    private var isStopping = false
    /// Whether messages may have been stored since the last round.
    private var hasNews = true
    private var pauseEnd: MonotonicTime?
    private var lookedAt: MonotonicTime
    private var backoff = Backoff(minimum: .milliseconds(200), maximum: .seconds(5))

    init(at now: MonotonicTime, settlingTime: Duration = Self.settlingTime) {
        self.settlingTime = settlingTime
        settledAt = now
        lookedAt = now
    }

    /// Returns whether messages may be published now.
    func maySend(at now: MonotonicTime) -> Bool { isConnected && now >= settledAt }

    mutating func next(at now: MonotonicTime) -> Step {
        guard !isStopping else { return .end }
        let pauseEnd = max(pauseEnd ?? now, isConnected ? settledAt : now)
        if pauseEnd > now { return .sleep(min(pauseEnd - now, Self.heartbeat)) }
        let heartbeat = isConnected ? Self.heartbeat : Self.unavailableHeartbeat
        let isDue = now - lookedAt >= heartbeat
        guard isDue || isConnected && hasNews else { return .sleep(heartbeat - (now - lookedAt)) }
        lookedAt = now
        guard isConnected else { return .see }
        // Messages that are stored from now on need another round.
        hasNews = false
        return .round
    }

    // MARK: Events

    /// Records that messages may have been stored.
    mutating func lookAgain() { hasNews = true }

    mutating func connected(at now: MonotonicTime) {
        pauseEnd = nil
        settledAt = now + settlingTime
        isConnected = true
        hasNews = true
        backoff.reset()
    }

    mutating func lost() { isConnected = false }

    mutating func stop() { isStopping = true }

    /// Records the end of a round.
    ///
    /// - Parameter random: A random number in 0..<1.
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
