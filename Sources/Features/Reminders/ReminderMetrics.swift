package import Observability

/// Counts the outcomes of reminders. Any thread may use it.
package struct ReminderMetrics: Sendable {
    /// The outcome of a reminder.
    package enum ReminderOutcome: String, Sendable, CaseIterable {
        /// The reminder was written to the outbox.
        case fired
        case delivered
        /// The reminder wasn't delivered before the start.
        case missed
    }

    package let reminders = CounterSet<ReminderOutcome>()
    /// The number of tasks without a partner when the reminder fired.
    let unpaired = Counter()
    /// The time from the due time of a reminder until the commit that fires it.
    package let reminderLateness = SharedHistogram(bounds: Histogram.latenessBounds)
    /// The number of failed statements of the scheduler. Each is tried again.
    let failures = CounterSet<SchedulerJob>()

    package init() {}

    package func write(to text: inout MetricsText) {
        text.counter("letsswitch_unpaired_total", "Number of tasks without a partner at the reminder.", unpaired.value)
        text.counter(
            "letsswitch_reminders_total", "Number of reminders, by outcome.", reminders.samples(label: "outcome"))
        text.histogram(
            "letsswitch_reminder_lateness_seconds", "Time from the due instant to the commit that fires the reminder.",
            reminderLateness.snapshot)
        text.counter(
            "letsswitch_scheduler_failures_total", "Number of failed statements of the scheduler, by job.",
            failures.samples(label: "job"))
    }
}
