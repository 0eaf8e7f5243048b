/// Whether and when a connection is made again, by a ``ReconnectPolicy``: a value without a clock.
///
/// It doubles by itself, and not by the `Backoff` of `Basics`, which is there on Linux only.
struct Reconnecting: Sendable {
    let policy: ReconnectPolicy
    /// Waits in a row.
    private var waits = 0

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
        guard let wish = Self.wish(after: error), waits < policy.attempts ?? .max else { return nil }
        // Beyond 62 doublings it is the longest wait anyway; and no product is made that is too large for a duration.
        let factor = 1 << min(waits, 62)
        let bound = policy.first > policy.longest / factor ? policy.longest : policy.first * factor
        waits += 1
        return switch wish {
        case .atLeast(let least): max(bound * fraction, least)
        case .exactly(let wait): wait
        }
    }

    /// What the server asks for.
    private enum Wish {
        case atLeast(Duration)
        /// It knows when: chance and what was lost before have no part in it.
        case exactly(Duration)
    }

    /// `nil` where no second attempt would end otherwise.
    private static func wish(after error: ClientError) -> Wish? {
        switch error {
        case .unreachable: .atLeast(.zero)
        case .closed(let code, _): [1001, 1006, 1011, 1012, 1013].contains(code.rawValue) ? .atLeast(.zero) : nil
        case .refused(let refusal):
            switch refusal.status {
            case 429, 503: .atLeast(refusal.retryAfter ?? .zero)
            // The room opens then. A server that says at once isn't taken at its word.
            case 403 where refusal.isNotOpen: .exactly(max(refusal.retryAfter ?? .zero, .seconds(1)))
            default: nil
            }
        case .invalidAddress, .invalidValue, .untrusted, .garbled, .sentAway, .rejected, .bufferFull, .cancelled: nil
        }
    }
}

extension ServerRefusal {
    /// Apple's systems keep no body of a refused WebSocket: then it shows by the server's saying when to come again.
    fileprivate var isNotOpen: Bool { code == "room_not_open" || code == nil && retryAfter != nil }
}
