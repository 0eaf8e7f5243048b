import Access
import Basics
import Sockets

/// Holds back what follows a confirmation, for a moment: some clients lose their reader when both come at once. A value.
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
        /// It is held, and ``release()`` is to be called after so long.
        case holdUntil(Duration)
        /// More is held than may be.
        case overflow
    }

    private enum State {
        case pausing(until: MonotonicTime, [Held])
        case open
    }

    /// Frames that may be held, those that follow their like not counted.
    private static let limit = 1024

    private var state: State

    init(confirmedAt now: MonotonicTime) {
        state = .pausing(until: now + CableLimits.confirmPause, [])
    }

    /// Whether nothing is held back.
    var isEmpty: Bool {
        if case .pausing(_, let held) = state { held.isEmpty } else { true }
    }

    /// How long it lasts yet; `nil` when it is over.
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
        // Not while the state holds them too: that would copy them each time.
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

    /// The pause is over.
    ///
    /// - Returns: What was held, to be sent now.
    mutating func release() -> [Held] {
        guard case .pausing(_, let held) = state else { return [] }
        state = .open
        return held
    }
}
