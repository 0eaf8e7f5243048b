/// Decides with a ``ReconnectPolicy`` whether and when to connect again. A value without a clock.
///
/// It doesn't use the `Backoff` of `Basics`, which exists on Linux only.
struct Reconnecting: Sendable {
    let policy: ReconnectPolicy
    /// The number of waits since a connection was last open for `policy.steadyAfter`.
    private var waits = 0

    init(_ policy: ReconnectPolicy) {
        self.policy = policy
    }

    /// Returns the time to wait before the next attempt, or `nil` if the client shouldn't connect again.
    ///
    /// - Parameters:
    ///   - openFor: The time for which the connection was open, or `nil` if it was never open.
    ///   - fraction: A random number of 0..<1.
    mutating func wait(after error: ClientError, openFor: Duration?, fraction: Double) -> Duration? {
        if let openFor, openFor >= policy.steadyAfter { waits = 0 }
        guard let requestedWait = Self.requestedWait(after: error), waits < policy.attempts ?? .max else { return nil }
        // After 62 doublings the wait reaches `longest` anyway. The bound of 62 avoids an overflow.
        let factor = 1 << min(waits, 62)
        let bound = policy.first > policy.longest / factor ? policy.longest : policy.first * factor
        waits += 1
        return switch requestedWait {
        case .atLeast(let least): max(bound * fraction, least)
        case .exactly(let wait): wait
        }
    }

    /// A wait that the server asks for.
    private enum RequestedWait {
        case atLeast(Duration)
        /// The server knows when a connection is possible, so the wait isn't random and doesn't grow after failures.
        case exactly(Duration)
    }

    /// Returns `nil` if another attempt would fail in the same way.
    private static func requestedWait(after error: ClientError) -> RequestedWait? {
        switch error {
        case .unreachable: .atLeast(.zero)
        case .closed(let code, _): [1001, 1006, 1011, 1012, 1013].contains(code.rawValue) ? .atLeast(.zero) : nil
        case .refused(let refusal):
            switch refusal.status {
            case 429, 503: .atLeast(refusal.retryAfter ?? .zero)
            // The room opens after `Retry-After`. The wait is at least a second, even if the server sends zero.
            case 403 where refusal.isNotOpen: .exactly(max(refusal.retryAfter ?? .zero, .seconds(1)))
            default: nil
            }
        case .invalidAddress, .invalidValue, .untrusted, .garbled, .sentAway, .rejected, .bufferFull, .cancelled: nil
        }
    }
}

extension ServerRefusal {
    /// Whether the room isn't open yet. On Apple's systems the response to a refused WebSocket has no body, so
    /// `Retry-After` without a code also counts.
    fileprivate var isNotOpen: Bool { code == "room_not_open" || code == nil && retryAfter != nil }
}
