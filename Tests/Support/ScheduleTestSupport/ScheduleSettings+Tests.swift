package import Schedule

extension ScheduleSettings {
    /// - Parameter reminderLead: In seconds.
    package init(reminderLead: Double = 60, maxTasksPerDevice: Int = 200) {
        self.init()
        self.reminderLead = .seconds(reminderLead)
        self.maxTasksPerDevice = maxTasksPerDevice
    }
}
