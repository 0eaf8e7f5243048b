/// What the schedule, the reminders and the database count. Any thread; event loops count for themselves.
package final class ProductMetrics: Sendable {
    /// What became of a request that changes a task.
    package enum TaskOutcome: String, Sendable, CaseIterable {
        case registered, repeated, retitled, cancelled, refused
    }

    /// What became of a reminder.
    package enum ReminderOutcome: String, Sendable, CaseIterable {
        /// Written to the outbox.
        case fired
        case delivered
        /// Not deliverable before the start.
        case missed
    }

    /// What a full place turned away or wouldn't keep, named by the flag that says how much it holds.
    package enum PlaceLimit: String, Sendable, CaseIterable {
        case roomSize = "room-size"
        case streamsPerDevice = "max-streams-per-device"
        case tasksPerDevice = "max-tasks-per-device"
        case storedTasks = "max-stored-tasks"
        case storedAddresses = "max-stored-addresses"
        case storedCalendars = "max-stored-calendars"
    }

    /// How a statement ended.
    package enum QueryOutcome: String, Sendable, CaseIterable {
        case succeeded, failed, unavailable
        /// A deadlock or a conflict of snapshots; each try counts.
        case conflict
    }

    package let tasks = CounterSet<TaskOutcome>()
    /// Peers and streams that found their place full.
    package let turnedAway = CounterSet<PlaceLimit>()
    /// Matches made.
    package let pairs = Counter()
    /// Tasks that were reminded without a partner.
    package let unpaired = Counter()
    package let reminders = CounterSet<ReminderOutcome>()
    /// From the due instant to the commit that fires the reminder.
    package let reminderLateness = SharedHistogram(bounds: Histogram.latenessBounds)
    /// From the due instant to the first stream that took it.
    package let deliveryLateness = SharedHistogram(bounds: Histogram.latenessBounds)
    /// Statements of the scheduler's that failed; each is tried again.
    package let schedulerFailures = CounterSet<SchedulerJob>()
    package let tls = TLSMetrics()
    package let queries = CounterSet<QueryOutcome>()
    private let queryLatency: [(name: String, histogram: SharedHistogram)]

    /// - Parameter statements: The names of all statements. Known beforehand, so that looking one up needs no lock and
    ///   the page can't grow; what isn't among them counts as `other`.
    package init(statements: [String]) {
        var seen: Set<String> = ["other"]
        queryLatency = (statements.filter { seen.insert($0).inserted } + ["other"]).map {
            ($0, SharedHistogram(bounds: Histogram.latencyBounds))
        }
    }

    /// Any thread. O(statements); there are some twenty, and each has cost a round trip.
    package func query(_ name: String, took duration: Duration, _ outcome: QueryOutcome) {
        queries.add(outcome)
        let entry = queryLatency.first { $0.name == name } ?? queryLatency.last
        entry?.histogram.observe(duration)
    }

    package func write(to text: inout MetricsText) {
        text.counter("letsswitch_tasks_total", "Changes of tasks by outcome.", tasks.samples(label: "outcome"))
        text.counter(
            "letsswitch_turned_away_total", "Peers, streams and registrations that found their place full, by cause.",
            turnedAway.samples(label: "cause"))
        text.counter("letsswitch_pairs_total", "Matches made.", pairs.value)
        text.counter("letsswitch_unpaired_total", "Tasks reminded without a partner.", unpaired.value)
        text.counter("letsswitch_reminders_total", "Reminders by outcome.", reminders.samples(label: "outcome"))
        text.histogram(
            "letsswitch_reminder_lateness_seconds", "From the due instant to the reminder's commit.",
            reminderLateness.snapshot)
        text.histogram(
            "letsswitch_reminder_delivery_lateness_seconds", "From the due instant to the first delivery.",
            deliveryLateness.snapshot)
        text.counter(
            "letsswitch_scheduler_failures_total", "Statements of the scheduler that failed, by what they were to do.",
            schedulerFailures.samples(label: "job"))
        text.counter("letsswitch_db_queries_total", "Statements by outcome.", queries.samples(label: "outcome"))
        text.histogram(
            "letsswitch_db_query_seconds", "Time to the database and back by statement.",
            queryLatency.map { MetricSample(["name": $0.name], $0.histogram.snapshot) })
        text.gauge(
            "letsswitch_build_info", "Always 1; the labels tell the version.",
            [MetricSample(["version": ProductVersion.number, "swift": ProductVersion.swift], 1)])
    }
}
