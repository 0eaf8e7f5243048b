import Observability

/// The number of statements by outcome, and their durations. Any thread may use them.
struct DatabaseMetrics: Sendable {
    /// The outcome of a statement.
    enum QueryOutcome: String, Sendable, CaseIterable {
        case succeeded, failed, unavailable
        /// A deadlock or a serialization failure. Each attempt counts.
        case conflict
    }

    private let queries = CounterSet<QueryOutcome>()
    private let latency: [(name: String, histogram: SharedHistogram)]

    /// - Parameter statements: The names of all statements. The set is fixed, so a look-up needs no lock and the
    ///   metrics page can't grow. Other statements count as `other`.
    init(statements: [String]) {
        var seen: Set<String> = ["other"]
        latency = (statements.filter { seen.insert($0).inserted } + ["other"]).map {
            ($0, SharedHistogram(bounds: Histogram.latencyBounds))
        }
    }

    /// Counts a statement. The search is linear. There are about forty names, and each statement costs a round trip
    /// anyway.
    func query(_ name: String, took duration: Duration, _ outcome: QueryOutcome) {
        queries.add(outcome)
        let entry = latency.first { $0.name == name } ?? latency.last
        entry?.histogram.observe(duration)
    }

    /// The numbers of answered, failed and timed statements, and the sum of the times.
    var totals: (answered: Int, failed: Int, timed: Int, seconds: Double) {
        let times = latency.map(\.histogram.snapshot)
        let answered = queries.value(.succeeded)
        return (
            answered, QueryOutcome.allCases.map(queries.value).reduce(0, +) - answered,
            times.map(\.count).reduce(0, +), times.map(\.sum).reduce(0, +)
        )
    }

    func write(to text: inout MetricsText) {
        text.counter(
            "letsswitch_db_queries_total", "Number of statements, by outcome.", queries.samples(label: "outcome"))
        text.histogram(
            "letsswitch_db_query_seconds", "Duration of statements, including the round trip, by statement.",
            latency.map { MetricSample(["name": $0.name], $0.histogram.snapshot) })
    }
}
