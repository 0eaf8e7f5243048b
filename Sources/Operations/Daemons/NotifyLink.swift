import Rooms

/// The two connections of the bus: one listens, another one sends. A value; each method returns the event to report.
///
/// ```
/// | reported | both work         | one is lost    |
/// |----------|-------------------|----------------|
/// | nothing  | → up, `connected` | → down, `lost` |
/// | up       |                   | → down, `lost` |
/// | down     | → up, `connected` |                |
/// ```
struct NotifyLink {
    private enum Told {
        case nothing, up, down
    }

    private var told = Told.nothing
    private var listens = false
    private var sends = false

    var isUp: Bool { told == .up }

    mutating func listening() -> BusEvent? {
        listens = true
        return rise()
    }

    mutating func sending() -> BusEvent? {
        sends = true
        return rise()
    }

    /// The other connection may be lost too, so it is tested again.
    mutating func lost(_ message: String, stillListens: Bool) -> BusEvent? {
        listens = listens && stillListens
        sends = false
        guard told != .down else { return nil }
        told = .down
        return .lost(message: message)
    }

    private mutating func rise() -> BusEvent? {
        guard listens, sends, told != .up else { return nil }
        told = .up
        return .connected
    }
}
