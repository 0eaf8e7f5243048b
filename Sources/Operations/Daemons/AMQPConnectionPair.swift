import Rooms

/// The two connections of a bus. The bus is connected if both connections are.
struct AMQPConnectionPair {
    enum Side {
        case publisher, consumer
    }

    private enum Report: Equatable {
        case nothing
        case connected
        /// The connection was lost for this reason.
        case lost(String)
    }

    private var publisher = false
    private var consumer = false
    /// The last reported state.
    private var report = Report.nothing

    var isConnected: Bool { report == .connected }

    /// - Returns: The event to report.
    mutating func connected(_ side: Side) -> BusEvent? {
        set(side, true)
        guard publisher, consumer, report != .connected else { return nil }
        report = .connected
        return .connected
    }

    /// - Returns: The event to report, if the state has changed.
    mutating func lost(_ side: Side, _ message: String) -> BusEvent? {
        set(side, false)
        // The consumer reconnects too, so it counts as lost.
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
