import Basics

/// Whether and when a connection is made again, by a ``ReconnectPolicy``: a value without a clock.
struct Reconnecting: Sendable {
    let policy: ReconnectPolicy
    /// The bounds of the waits in a row: what of a bound is waited, is left to chance wholly.
    private var backoff: Backoff

    init(_ policy: ReconnectPolicy) {
        self.policy = policy
        backoff = Backoff(minimum: policy.first, maximum: policy.longest, jitter: 1)
    }

    /// The wait before the next attempt; `nil` when there is none.
    ///
    /// - Parameters:
    ///   - openFor: How long the connection was open that ended; `nil` when it never was.
    ///   - fraction: A random number of 0..<1.
    mutating func wait(after error: ClientError, openFor: Duration?, fraction: Double) -> Duration? {
        if let openFor, openFor >= policy.steadyAfter { backoff.reset() }
        guard let least = Self.leastWait(after: error), backoff.failures < policy.attempts ?? .max else { return nil }
        return max(backoff.next(random: 1 - fraction), least)
    }

    /// How long has to be waited; `nil` where no second attempt would end otherwise.
    private static func leastWait(after error: ClientError) -> Duration? {
        switch error {
        case .unreachable: .zero
        case .closed(let code, _): [1001, 1006, 1011, 1012, 1013].contains(code.rawValue) ? .zero : nil
        case .refused(let refusal):
            switch refusal.status {
            case 429, 503: refusal.retryAfter ?? .zero
            case 403 where refusal.code == "room_not_open": refusal.retryAfter ?? .seconds(1)
            default: nil
            }
        case .invalidAddress, .invalidValue, .untrusted, .garbled, .sentAway, .rejected, .bufferFull, .cancelled: nil
        }
    }
}
