package import Domain

/// The receiver of claimed reminders on this daemon. Its methods can be called on any thread. If notifications were
/// lost, it may have missed some reminders.
package protocol ReminderReceiver: Sendable {
    /// Delivers each reminder to the readers of its device. A reader that already has it doesn't receive it again.
    ///
    /// - Parameter settled: All reminders up to this claim were delivered.
    func deliver(_ reminders: [Reminder], settled: Int)
    /// Delivers the reminders that devices may have missed: all whose task hasn't started, in claim order.
    ///
    /// - Parameter newest: Up to this claim, the devices have no other reminders.
    func catchUp(_ devices: [DeviceID], with reminders: [Reminder], newest: Int)
    /// Makes the readers of these devices reconnect, so that they read missing reminders from the database. `nil` means
    /// all devices.
    func restart(_ devices: [DeviceID]?)
    /// Reports slots that can't be joined any more.
    func slotsClosed(_ slots: Set<Instant>)
    /// Returns the devices with at least one reader.
    func devices() async -> Set<DeviceID>
}
