/// The times and numbers that tasks go by. Flags set them: see ``Setting`` in the daemon.
package struct ScheduleSettings: Hashable, Sendable {
    /// How long before its start a task's registration closes, its reminder goes out and its room opens.
    package var reminderLead: Duration = .seconds(60)
    /// How long after the start a promise may still be taken back or moved, and whoever is let down still be joined.
    package var lateJoin: Duration = .seconds(300)
    /// How long after the start, or after being paired anew, a partner who isn't in the room counts as not coming.
    package var noShowAfter: Duration = .seconds(60)
    /// How long before the lead a promise that somebody was invited to doesn't wait for that one alone any more.
    package var invitationHold: Duration = .seconds(300)
    /// How far ahead a task may be.
    package var horizon: Duration = .seconds(90 * 86_400)
    /// How long after the start a room closes. Fixed at registration, as the reminder is.
    package var roomDuration: Duration = .seconds(3600)
    /// How long after its start what is past is kept.
    package var retention: Duration = .seconds(30 * 86_400)
    /// Tasks of one device that haven't started; beyond it `429`.
    package var maxTasksPerDevice = 200
    /// Beyond it `429`.
    package var maxSeriesPerDevice = 20
    /// For so many days from today a series' promises are made ahead.
    package var seriesDays = 14

    package init() {}

    /// Nobody waits for a partner longer than there is a room for the two.
    var lateJoinWindow: Duration { min(lateJoin, roomDuration) }
}
