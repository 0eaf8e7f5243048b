import Basics

/// The state of the outbox. It decides; ``BridgeOutbox`` acts. Time and random numbers are arguments.
///
/// ```
/// | the broker is | messages may wait | no messages known | after a failure, or while another daemon publishes |
/// |---------------|-------------------|-------------------|-----------------------------------------------------|
/// | connected     | a round           | sleeps            | sleeps, then a round                                |
/// | unavailable   | sleeps            | sleeps            | sleeps                                              |
/// ```
///
/// It also checks for messages regularly. While the broker is unavailable, it tells the database that this daemon waits
/// for it.
struct OutboxState: Sendable, Hashable {
    /// The maximum time between two checks.
    static let heartbeat: Duration = .seconds(300)
    /// The interval at which the number of waiting messages is reported while the broker is unavailable.
    static let unavailableHeartbeat: Duration = .seconds(30)
    /// The time for clients to declare their queues after a new connection. The broker may have just restarted, even if
    /// this daemon is new. RMQClient reconnects after 4 seconds, bunny after 5.
    static let settlingTime: Duration = .seconds(10)
    /// The pause before another attempt if the database is unavailable.
    private static let databasePause: Duration = .seconds(1)

    enum Step: Hashable {
        /// Take messages, publish them, and remove them.
        case round
        /// Tell the database that this daemon has a broker.
        case see
        case sleep(Duration)
        case end
    }

    /// The result of a round.
    enum Outcome: Hashable {
        /// All messages, or the maximum of one round, were published.
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

    /// Whether messages may be published now.
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
        // Messages stored from now on need another round.
        hasNews = false
        return .round
    }

    // MARK: What happens

    /// Reports that messages may have been stored.
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
