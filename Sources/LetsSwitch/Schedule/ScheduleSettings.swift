/// The times that registration goes by.
package struct ScheduleSettings: Hashable, Sendable {
    /// `--reminder-lead`: how long before the start the reminder goes out and registration closes. Seconds.
    package var reminderLead: Double
    /// How far ahead a task may be. Seconds.
    package var horizon: Double

    package init(reminderLead: Double = 60, horizon: Double = 90 * 86_400) {
        self.reminderLead = reminderLead
        self.horizon = horizon
    }
}
