import Rooms

/// The two connections of the bus: one listens, and the other one sends. A value; each method returns the event to
/// report.
///
/// ```
/// | reported | both work         | one is lost    |
/// |----------|-------------------|----------------|
/// | nothing  | → up, `connected` | → down, `lost` |
/// | up       |                   | → down, `lost` |
/// | down     | → up, `connected` |                |
/// ```
struct NotifyLink {
    private enum Reported {
        case nothing, up, down
    }

    private var reported = Reported.nothing
    private var listens = false
    private var sends = false

    var isUp: Bool { reported == .up }

    mutating func listening() -> BusEvent? {
        listens = true
        return rise()
    }

    mutating func sending() -> BusEvent? {
        sends = true
        return rise()
    }

    /// Records that one of the two connections is lost. If the listening connection is lost, the sending connection may
    /// be lost too. Therefore ``sending()`` must be called again in both cases.
    ///
    /// - Parameter stillListens: Whether the listening connection still works.
    mutating func lost(_ message: String, stillListens: Bool) -> BusEvent? {
        listens = listens && stillListens
        sends = false
        guard reported != .down else { return nil }
        reported = .down
        return .lost(message: message)
    }

    private mutating func rise() -> BusEvent? {
        guard listens, sends, reported != .up else { return nil }
        reported = .up
        return .connected
    }
}
