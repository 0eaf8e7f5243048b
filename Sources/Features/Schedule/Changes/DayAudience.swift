package import Domain

/// The readers of days on this daemon. The methods may be called on any thread.
package protocol DayAudience: Sendable {
    var isEmpty: Bool { get }
    /// Notifies a device that one of its own slots has changed.
    func dayChanged(of device: DeviceID, at start: Instant)
    /// Notifies every device that shows these slots. The devices listed with a slot already know of its change.
    func slotsChanged(_ slots: [Instant: [DeviceID]])
}
