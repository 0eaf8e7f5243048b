import Rooms

/// Two connections are one bus: it is there when both are.
struct AMQPConnectionPair {
    enum Side {
        case publisher, consumer
    }

    private enum Report: Equatable {
        case nothing
        case connected
        /// With these words.
        case lost(String)
    }

    private var publisher = false
    private var consumer = false
    /// What was told last.
    private var report = Report.nothing

    var isConnected: Bool { report == .connected }

    /// - Returns: What is to be told.
    mutating func connected(_ side: Side) -> BusEvent? {
        set(side, true)
        guard publisher, consumer, report != .connected else { return nil }
        report = .connected
        return .connected
    }

    /// - Returns: What is to be told: not the same again at each attempt.
    mutating func lost(_ side: Side, _ message: String) -> BusEvent? {
        set(side, false)
        // That connection is to be made anew: whatever it was, it isn't now.
        if side == .publisher, isConnected { consumer = false }
        guard report != .lost(message) else { return nil }
        report = .lost(message)
        return .lost(message: message)
    }

    private mutating func set(_ side: Side, _ isConnected: Bool) {
        switch side {
        case .publisher: publisher = isConnected
        case .consumer: consumer = isConnected
        }
    }
}
