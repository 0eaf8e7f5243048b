/// A device's reminders whose task hasn't started, as a reader of its stream stands to them.
package struct ReminderBacklog: Sendable, Equatable {
    /// In firing order.
    package let unseen: [Reminder]
    /// Those up to `Last-Event-ID`.
    package let seen: [Reminder]
}
