import Basics

/// The claims of this daemon that were counted and logged. A claim can be committed although its answer was lost. The
/// daemon then looks for it in the database for as long as it may still be running. A value.
struct LostClaims {
    /// How long a claim whose answer was lost may still run. Longer than the limit of any statement.
    static let patience = Duration.seconds(60)
    /// The time between two looks.
    static let interval = Duration.seconds(5)

    private enum State: Equatable {
        case none
        case looking(until: MonotonicTime, next: MonotonicTime)
    }

    private var state = State.none
    /// All own batches up to this one are recorded.
    private(set) var through = 0
    /// The recorded batches after that one. Bounded by the claims within ``patience``.
    private(set) var recorded: Set<Int> = []

    /// When to look for lost claims. `nil` if there are none.
    var lookAt: MonotonicTime? {
        if case .looking(_, let next) = state { next } else { nil }
    }

    /// Records that an answer was lost.
    mutating func answerLost(at now: MonotonicTime) {
        state = .looking(until: now + Self.patience, next: now)
    }

    /// - Returns: Whether this own batch is new. It is recorded now.
    mutating func record(_ batch: Int) -> Bool {
        guard batch > through, recorded.insert(batch).inserted else { return false }
        if state == .none { settle() }
        return true
    }

    /// Records that the own batches after ``through`` were read and recorded.
    mutating func looked(at now: MonotonicTime) {
        guard case .looking(let until, _) = state else { return }
        if now < until {
            state = .looking(until: until, next: now + Self.interval)
        } else {
            state = .none
            settle()
        }
    }

    /// The database was restored, and its numbers start again from a lower one.
    mutating func restart(at batch: Int) {
        through = batch
        recorded = []
    }

    private mutating func settle() {
        through = max(through, recorded.max() ?? 0)
        recorded = []
    }
}
