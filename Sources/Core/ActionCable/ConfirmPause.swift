import Access
import Basics
import Sockets

/// Delays the messages after a confirmation briefly. Some clients stop reading if a message arrives together with the
/// confirmation. A value.
///
/// ```
/// confirmed ──── 50 ms ────► open
///     │ held, in order         │ sent at once
/// ```
struct ConfirmPause {
    struct Held {
        let frame: SharedBytes
        var times: Int
    }

    enum Verdict: Equatable {
        case send
        case hold
        /// The message is held. Call ``release()`` after this time.
        case holdUntil(Duration)
        /// Too many messages are held.
        case overflow
    }

    private enum State {
        case pausing(until: MonotonicTime, [Held])
        case open
    }

    /// The maximum number of held frames. A frame equal to the one before it isn't counted.
    private static let limit = 1024

    private var state: State

    init(confirmedAt now: MonotonicTime) {
        state = .pausing(until: now + CableLimits.confirmPause, [])
    }

    /// Whether no messages are held.
    var isEmpty: Bool {
        if case .pausing(_, let held) = state { held.isEmpty } else { true }
    }

    /// Returns the remaining time; `nil` after the pause.
    func timeLeft(at now: MonotonicTime) -> Duration? {
        guard case .pausing(let until, _) = state, now < until else { return nil }
        return until - now
    }

    mutating func send(_ frame: SharedBytes, times: Int, at now: MonotonicTime) -> Verdict {
        guard case .pausing(let until, var held) = state else { return .send }
        if held.isEmpty, now >= until {
            state = .open
            return .send
        }
        // Changes the state first, because an array that the state also holds would be copied at each append.
        state = .open
        defer { state = .pausing(until: until, held) }
        if let last = held.indices.last, held[last].frame === frame {
            held[last].times += times
            return .hold
        }
        guard held.count < Self.limit else { return .overflow }
        held.append(Held(frame: frame, times: times))
        return held.count == 1 ? .holdUntil(until - now) : .hold
    }

    /// Ends the pause.
    ///
    /// - Returns: The held messages, to be sent now.
    mutating func release() -> [Held] {
        guard case .pausing(_, let held) = state else { return [] }
        state = .open
        return held
    }
}
