package import Domain

/// The readers of days on this daemon. Any thread.
package protocol DayAudience: Sendable {
    var isEmpty: Bool { get }
    /// Notifies a device that one of its own slots has changed.
    func dayChanged(of device: DeviceID, at start: Instant)
    /// Notifies everyone who looks at these slots. Each comes with the devices that already know of its change.
    func slotsChanged(_ slots: [Instant: [DeviceID]])
}
