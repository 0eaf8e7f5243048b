/// Whether and when a connection is made again, by a ``ReconnectPolicy``: a value without a clock.
struct Reconnecting: Sendable {
    let policy: ReconnectPolicy
    /// Waits in a row.
    private(set) var waits = 0

    init(_ policy: ReconnectPolicy) {
        self.policy = policy
    }

    /// The wait before the next attempt; `nil` when there is none.
    ///
    /// - Parameters:
    ///   - openFor: How long the connection was open that ended; `nil` when it never was.
    ///   - fraction: A random number of 0..<1.
    mutating func wait(after error: ClientError, openFor: Duration?, fraction: Double) -> Duration? {
        if let openFor, openFor >= policy.steadyAfter { waits = 0 }
        guard let least = Self.leastWait(after: error), waits < policy.attempts ?? .max else { return nil }
        // Beyond 62 doublings the bound is the longest wait anyway.
        let doubled = min(waits, 62)
        let bound = policy.first > policy.longest / (1 << doubled) ? policy.longest : policy.first * (1 << doubled)
        waits += 1
        return max(bound * fraction, least)
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
