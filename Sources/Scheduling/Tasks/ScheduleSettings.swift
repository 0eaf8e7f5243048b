/// The times and numbers that registration goes by.
package struct ScheduleSettings: Hashable, Sendable {
    /// `--reminder-lead`: how long before the start the reminder goes out and registration closes. Seconds.
    package var reminderLead: Double
    /// How far ahead a task may be. Seconds.
    package var horizon: Double
    /// `--room-duration`: how long after the start the room closes. Fixed at registration, as the reminder is. Seconds.
    package var roomDuration: Double
    /// `--max-tasks-per-device`: tasks of a device that haven't started.
    package var maxTasksPerDevice: Int

    package init(
        reminderLead: Double = 60, horizon: Double = 90 * 86_400, roomDuration: Double = 3600,
        maxTasksPerDevice: Int = 200
    ) {
        self.reminderLead = reminderLead
        self.horizon = horizon
        self.roomDuration = roomDuration
        self.maxTasksPerDevice = maxTasksPerDevice
    }
}
