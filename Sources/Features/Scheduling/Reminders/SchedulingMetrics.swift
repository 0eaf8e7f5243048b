package import Observability

/// The outcomes of tasks and reminders. Any thread.
package struct SchedulingMetrics: Sendable {
    /// The outcome of a request that changes a task.
    package enum TaskOutcome: String, Sendable, CaseIterable {
        case registered, repeated, retitled, cancelled, left, moved, refused
    }

    /// The outcome of a reminder.
    package enum ReminderOutcome: String, Sendable, CaseIterable {
        /// Written to the outbox.
        case fired
        case delivered
        /// Not delivered before the start.
        case missed
    }

    package let tasks = CounterSet<TaskOutcome>()
    /// New matches.
    package let pairs = Counter()
    package let reminders = CounterSet<ReminderOutcome>()
    /// Tasks without a partner at the reminder.
    let unpaired = Counter()
    /// The time from the due instant until the commit that fires the reminder.
    package let reminderLateness = SharedHistogram(bounds: Histogram.latenessBounds)
    /// The scheduler's failed statements. Each is tried again.
    let failures = CounterSet<SchedulerJob>()

    package init() {}

    package func writeTasks(to text: inout MetricsText) {
        text.counter(
            "letsswitch_tasks_total", "Number of requests that change a task, by outcome.",
            tasks.samples(label: "outcome"))
    }

    package func writeReminders(to text: inout MetricsText) {
        text.counter("letsswitch_pairs_total", "Number of matches made.", pairs.value)
        text.counter("letsswitch_unpaired_total", "Number of tasks without a partner at the reminder.", unpaired.value)
        text.counter(
            "letsswitch_reminders_total", "Number of reminders, by outcome.", reminders.samples(label: "outcome"))
        text.histogram(
            "letsswitch_reminder_lateness_seconds", "Time from the due instant to the commit that fires the reminder.",
            reminderLateness.snapshot)
    }

    package func writeFailures(to text: inout MetricsText) {
        text.counter(
            "letsswitch_scheduler_failures_total", "Number of failed statements of the scheduler, by job.",
            failures.samples(label: "job"))
    }
}
