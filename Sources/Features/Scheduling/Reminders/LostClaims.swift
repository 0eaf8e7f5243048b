import Basics

/// Which of this daemon's claims were counted and logged. A claim may be committed and its answer lost; then it is looked for
/// in the database, for as long as it may still be under way there. A value.
struct LostClaims {
    /// How long a claim whose answer was lost may go on in the database: longer than any statement may.
    static let patience = Duration.seconds(60)
    /// Between two looks for it.
    static let interval = Duration.seconds(5)

    private enum State: Equatable {
        case none
        case looking(until: MonotonicTime, next: MonotonicTime)
    }

    private var state = State.none
    /// Own batches up to this one are recorded.
    private(set) var through = 0
    /// Those after it. As many as are claimed within ``patience``.
    private(set) var recorded: Set<Int> = []

    /// When to look for lost claims; nil when none is.
    var lookAt: MonotonicTime? {
        if case .looking(_, let next) = state { next } else { nil }
    }

    /// An answer was lost.
    mutating func answerLost(at now: MonotonicTime) {
        state = .looking(until: now + Self.patience, next: now)
    }

    /// - Returns: Whether this own batch is yet to be recorded, which it now is.
    mutating func record(_ batch: Int) -> Bool {
        guard batch > through, recorded.insert(batch).inserted else { return false }
        if state == .none { settle() }
        return true
    }

    /// The database was asked for own batches after ``through``, and those that it has are recorded.
    mutating func looked(at now: MonotonicTime) {
        guard case .looking(let until, _) = state else { return }
        if now < until {
            state = .looking(until: until, next: now + Self.interval)
        } else {
            state = .none
            settle()
        }
    }

    /// The database was restored, and counts from a lower number.
    mutating func restart(at batch: Int) {
        through = batch
        recorded = []
    }

    private mutating func settle() {
        through = max(through, recorded.max() ?? 0)
        recorded = []
    }
}
