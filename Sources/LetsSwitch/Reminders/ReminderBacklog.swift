/// A device's reminders whose task hasn't started, as a reader of its stream stands to them.
package struct ReminderBacklog: Sendable, Equatable {
    /// In firing order.
    package let unseen: [Reminder]
    /// Those up to `Last-Event-ID`.
    package let seen: [Reminder]
    /// Whether there are no more.
    package var isComplete = true

    /// The last in firing order; 0 without any. Of what fired before it nothing is missing.
    var through: Int { max(unseen.last?.seq ?? 0, seen.last?.seq ?? 0) }
}
