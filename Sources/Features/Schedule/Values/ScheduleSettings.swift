package import Domain
package import Features

/// The times and limits of tasks.
package struct ScheduleSettings: SettingValues, Hashable {
    /// The time before the start at which registration closes, the reminder is sent and the room opens.
    package var reminderLead: Duration = .seconds(60)
    /// The time after the start for which a task may be left or moved, and a waiting user may be joined.
    package var lateJoin: Duration = .seconds(300)
    /// The time after the start, or after a later match, until a partner who isn't in the room counts as absent.
    package var noShowAfter: Duration = .seconds(60)
    /// The time before the lead at which a task with an invitation stops waiting only for its guest.
    package var invitationHold: Duration = .seconds(300)
    /// The maximum time from registration to the start.
    package var horizon: Duration = .seconds(90 * 86_400)
    /// The time after the start at which a room closes. Fixed at registration, like the reminder.
    package var roomDuration: Duration = .seconds(3600)
    /// The time for which tasks are kept after their start.
    package var retention: Duration = .seconds(30 * 86_400)
    /// The maximum number of a device's tasks that haven't started. Further requests are answered with `429`.
    package var maxTasksPerDevice = 200
    /// The maximum number of a device's series. Further requests are answered with `429`.
    package var maxSeriesPerDevice = 20
    /// The number of days from today for which tasks of a series are created.
    package var seriesDays = 14

    package init() {}

    /// The time after the start for which a user may wait for a partner. Waiting ends when the room closes, if not
    /// before.
    var lateJoinWindow: Duration { min(lateJoin, roomDuration) }
}

/// The feature's flags.
extension ScheduleSettings {
    private static let moment: Duration = .milliseconds(1)
    private static let day: Duration = .seconds(86_400)

    package static let settings: [Setting<ScheduleSettings>] = [
        .duration(
            "reminder-lead", \.reminderLead, in: moment...day, .schedule,
            "time before the start at which registration closes, the reminder is sent and the room opens"),
        .duration(
            "room-duration", \.roomDuration, in: moment...day * 30, .schedule,
            "how long after the start the room closes"),
        .duration(
            "late-join", \.lateJoin, in: .zero...day, .schedule,
            "how long after the start a task can be left, and an abandoned partner paired again"),
        .duration(
            "no-show-after", \.noShowAfter, in: .zero...day, .schedule,
            "how long after the start a partner who isn't there is replaced"),
        .duration(
            "invitation-hold", \.invitationHold, in: .zero...day, .schedule,
            "how long before the reminder a task stops waiting only for its invited guest"),
        .duration(
            "retention", \.retention, in: .seconds(60)...day * 3_650, .schedule, "how long past tasks are kept"),
        .integer(
            "max-tasks-per-device", \.maxTasksPerDevice, in: 1...1_000_000, .limits,
            "maximum tasks per device that haven't started"),
        .integer(
            "max-series-per-device", \.maxSeriesPerDevice, in: 1...1_000_000, .limits, "maximum series per device"),
    ]

    /// The quotas of the feature's tables.
    package static let storage: [Setting<StorageLimits>] = [
        .integer("max-stored-tasks", \.tasks, in: 1...1_000_000_000, .limits, "maximum stored tasks"),
        .integer("max-stored-series", \.series, in: 1...1_000_000_000, .limits, "maximum stored series"),
        .integer("max-stored-calendars", \.calendars, in: 1...1_000_000_000, .limits, "maximum stored calendars"),
        .integer(
            "max-stored-preferences", \.preferences, in: 1...1_000_000_000, .limits,
            "maximum stored preferences for partners"),
    ]
}
