import Basics

/// Records which claims of this daemon were counted and logged. A claim may be committed although its answer was lost.
/// The daemon then searches for it in the database for as long as it may still be running. A value type.
struct LostClaims {
    /// The maximum time for which a claim whose answer was lost may still run. Longer than the time limit of any
    /// statement.
    static let patience = Duration.seconds(60)
    /// The time between two searches.
    static let interval = Duration.seconds(5)

    private enum State: Equatable {
        case none
        case looking(until: MonotonicTime, next: MonotonicTime)
    }

    private var state = State.none
    /// All of this daemon's batches up to this number are recorded.
    private(set) var through = 0
    /// The recorded batches after ``through``. Their number is bounded, because only claims within ``patience`` are
    /// kept.
    private(set) var recorded: Set<Int> = []

    /// The time of the next search for lost claims. `nil` if there is nothing to search for.
    var lookAt: MonotonicTime? {
        if case .looking(_, let next) = state { next } else { nil }
    }

    /// Records that an answer was lost.
    mutating func answerLost(at now: MonotonicTime) {
        state = .looking(until: now + Self.patience, next: now)
    }

    /// Records a batch of this daemon.
    ///
    /// - Returns: Whether the batch wasn't recorded before.
    mutating func record(_ batch: Int) -> Bool {
        guard batch > through, recorded.insert(batch).inserted else { return false }
        if state == .none { settle() }
        return true
    }

    /// Records that a search has read this daemon's batches after ``through``.
    mutating func looked(at now: MonotonicTime) {
        guard case .looking(let until, _) = state else { return }
        if now < until {
            state = .looking(until: until, next: now + Self.interval)
        } else {
            state = .none
            settle()
        }
    }

    /// Starts again from a lower number, because the database was restored.
    mutating func restart(at batch: Int) {
        through = batch
        recorded = []
    }

    private mutating func settle() {
        through = max(through, recorded.max() ?? 0)
        recorded = []
    }
}
