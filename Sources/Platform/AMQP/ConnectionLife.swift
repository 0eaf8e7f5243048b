import Basics

/// What a connection to a broker does next: decides, and does nothing. ``ConnectionDriver`` acts on it.
///
/// | phase     | made      | lost, or in vain | blocked   | unblocked   | end     |
/// |-----------|-----------|------------------|-----------|-------------|---------|
/// | waiting   | → taking  | → waiting        |           |             | → ended |
/// | taking    |           | → waiting        | → blocked |             | → ended |
/// | blocked   |           | → waiting        |           | → taking    | → ended |
/// | ended     |           |                  |           |             |         |
struct ConnectionLife {
    enum Phase: Equatable {
        /// There is no connection; the next attempt is due then.
        case waiting(until: MonotonicTime)
        /// The broker takes what is published.
        case taking
        /// It takes nothing at present, and has said why.
        case blocked(reason: String)
        case ended
    }

    enum Step: Equatable {
        case connect
        case wait(until: MonotonicTime)
        case serve
        case end
    }

    /// A connection that lives as long has been a success: the next attempt after it is the first.
    private static let success: Duration = .seconds(5)

    private(set) var phase: Phase
    private var backoff: Backoff
    private var connectedAt = MonotonicTime(nanoseconds: 0)

    init(backoff: Backoff, at now: MonotonicTime) {
        self.backoff = backoff
        phase = .waiting(until: now)
    }

    func next(at now: MonotonicTime) -> Step {
        switch phase {
        case .waiting(let until): now < until ? .wait(until: until) : .connect
        case .taking, .blocked: .serve
        case .ended: .end
        }
    }

    var isConnected: Bool {
        switch phase {
        case .taking, .blocked: true
        case .waiting, .ended: false
        }
    }

    mutating func connected(at now: MonotonicTime) {
        guard case .waiting = phase else { return }
        phase = .taking
        connectedAt = now
    }

    /// The connection is gone, or there could be none. `random` is in 0..<1.
    mutating func lost(at now: MonotonicTime, random: Double) {
        guard phase != .ended else { return }
        if isConnected, now - connectedAt >= Self.success { backoff.reset() }
        phase = .waiting(until: now + backoff.next(random: random))
    }

    mutating func blocked(_ reason: String) {
        if isConnected { phase = .blocked(reason: reason) }
    }

    mutating func unblocked() {
        if isConnected { phase = .taking }
    }

    mutating func end() {
        phase = .ended
    }
}
