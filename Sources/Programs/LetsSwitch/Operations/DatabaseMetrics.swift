import Observability

/// Statements by outcome, and how long each takes. Any thread.
struct DatabaseMetrics: Sendable {
    /// How a statement ended.
    enum QueryOutcome: String, Sendable, CaseIterable {
        case succeeded, failed, unavailable
        /// A deadlock or a conflict of snapshots; each try counts.
        case conflict
    }

    private let queries = CounterSet<QueryOutcome>()
    private let latency: [(name: String, histogram: SharedHistogram)]

    /// - Parameter statements: The names of all statements. Known beforehand, so that looking one up needs no lock and
    ///   the page can't grow; what isn't among them counts as `other`.
    init(statements: [String]) {
        var seen: Set<String> = ["other"]
        latency = (statements.filter { seen.insert($0).inserted } + ["other"]).map {
            ($0, SharedHistogram(bounds: Histogram.latencyBounds))
        }
    }

    /// O(statements); there are some forty, and each has cost a round trip.
    func query(_ name: String, took duration: Duration, _ outcome: QueryOutcome) {
        queries.add(outcome)
        let entry = latency.first { $0.name == name } ?? latency.last
        entry?.histogram.observe(duration)
    }

    /// Statements that were answered and that failed, those whose time was taken, and these times together.
    var totals: (answered: Int, failed: Int, timed: Int, seconds: Double) {
        let times = latency.map(\.histogram.snapshot)
        let answered = queries.value(.succeeded)
        return (
            answered, QueryOutcome.allCases.map(queries.value).reduce(0, +) - answered,
            times.map(\.count).reduce(0, +), times.map(\.sum).reduce(0, +)
        )
    }

    func write(to text: inout MetricsText) {
        text.counter("letsswitch_db_queries_total", "Statements by outcome.", queries.samples(label: "outcome"))
        text.histogram(
            "letsswitch_db_query_seconds", "Time to the database and back by statement.",
            latency.map { MetricSample(["name": $0.name], $0.histogram.snapshot) })
    }
}
