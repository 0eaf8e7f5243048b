/// The times and limits of tasks. Flags set them: see ``Setting`` in the daemon.
package struct ScheduleSettings: Hashable, Sendable {
    /// The time before the start at which registration closes, the reminder is sent and the room opens.
    package var reminderLead: Duration = .seconds(60)
    /// How long after the start a task may be left or moved, and an abandoned partner may be joined.
    package var lateJoin: Duration = .seconds(300)
    /// How long after the start, or after a new match, a partner who isn't in the room counts as absent.
    package var noShowAfter: Duration = .seconds(60)
    /// How long before the lead a task with an invitation stops waiting only for its guest.
    package var invitationHold: Duration = .seconds(300)
    /// How far in the future a task may start.
    package var horizon: Duration = .seconds(90 * 86_400)
    /// How long after the start a room closes. Fixed at registration, like the reminder.
    package var roomDuration: Duration = .seconds(3600)
    /// How long tasks are kept after their start.
    package var retention: Duration = .seconds(30 * 86_400)
    /// The maximum number of a device's tasks that haven't started. Beyond it, the answer is `429`.
    package var maxTasksPerDevice = 200
    /// The maximum number of a device's series. Beyond it, the answer is `429`.
    package var maxSeriesPerDevice = 20
    /// For how many days from today the tasks of a series are created.
    package var seriesDays = 14

    package init() {}

    /// The wait for a partner ends at the latest when the room closes.
    var lateJoinWindow: Duration { min(lateJoin, roomDuration) }
}
