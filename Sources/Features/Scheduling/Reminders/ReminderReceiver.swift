package import Domain

/// Who on this daemon listens for what is claimed. Any thread; who is told nothing may have missed it.
package protocol ReminderReceiver: Sendable {
    /// Brings each reminder to those who listen for its device. Who had one already doesn't get it again.
    ///
    /// - Parameter settled: Of this claim and all before it everything was delivered.
    func deliver(_ reminders: [Reminder], settled: Int)
    /// Brings devices what they may have missed: all their reminders whose task has not started, in firing order.
    ///
    /// - Parameter newest: Up to this claim there is nothing else for them.
    func catchUp(_ devices: [DeviceID], with reminders: [Reminder], newest: Int)
    /// Has those who listen for these devices begin anew, and so get what they lack from the database; everybody, when nil.
    func restart(_ devices: [DeviceID]?)
    /// Nobody can join at these slots any more.
    func slotsClosed(_ slots: Set<Instant>)
    /// For which there is somebody.
    func devices() async -> Set<DeviceID>
}
