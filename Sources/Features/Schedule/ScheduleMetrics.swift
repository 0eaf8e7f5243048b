import Observability

/// Counts the outcomes of requests that change tasks. Any thread may use it.
struct ScheduleMetrics: Sendable {
    /// The outcome of a request that changes a task.
    enum TaskOutcome: String, Sendable, CaseIterable {
        case registered, repeated, retitled, cancelled, left, moved, refused
    }

    let tasks = CounterSet<TaskOutcome>()
    /// The number of new matches.
    let pairs = Counter()

    func write(to text: inout MetricsText) {
        text.counter(
            "letsswitch_tasks_total", "Number of requests that change a task, by outcome.",
            tasks.samples(label: "outcome"))
        text.counter("letsswitch_pairs_total", "Number of matches made.", pairs.value)
    }
}
