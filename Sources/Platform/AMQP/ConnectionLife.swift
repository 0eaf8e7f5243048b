import Basics

/// The state of a connection to a broker. This value decides what to do, and ``ConnectionDriver`` does it.
///
/// ```
/// | phase     | connected | lost or failed   | blocked   | unblocked   | end     |
/// |-----------|-----------|------------------|-----------|-------------|---------|
/// | waiting   | → taking  | → waiting        |           |             | → ended |
/// | taking    |           | → waiting        | → blocked |             | → ended |
/// | blocked   |           | → waiting        |           | → taking    | → ended |
/// | ended     |           |                  |           |             |         |
/// ```
struct ConnectionLife {
    enum Phase: Equatable {
        /// There is no connection. The next attempt is at `until`.
        case waiting(until: MonotonicTime)
        /// The broker accepts messages.
        case taking
        /// The broker accepts no messages at present.
        case blocked(reason: String)
        case ended
    }

    enum Step: Equatable {
        case connect
        case wait(until: MonotonicTime)
        case serve
        case end
    }

    /// The time for which a connection must last to count as a success. After a success the back-off starts again.
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

    /// Records that the connection was lost or couldn't be opened. `random` is in 0..<1.
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
