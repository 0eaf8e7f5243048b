package import Observability
import Synchronization

/// The counters of one provider. Any thread may use them.
package final class DeliveryMetrics: Sendable {
    /// The outcome of an attempt, or of a delivery that wasn't attempted.
    package enum Outcome: String, Sendable, Hashable, CaseIterable {
        case accepted, retried, paused, refused, gone
        /// The delivery's deadline passed.
        case expired
        /// The address or the user was erased before the attempt.
        case orphaned
        /// Too many deliveries waited, or the provider was refused for good.
        case dropped
    }

    package let name: ProviderName
    package let outcomes = CounterSet<Outcome>()
    /// The duration of an attempt.
    package let latency = SharedHistogram(bounds: Histogram.latenessBounds)
    private let waitingCount = Atomic<Int>(0)
    private let sendingCount = Atomic<Int>(0)
    private let isResting = Atomic<Bool>(false)

    package init(_ name: ProviderName) {
        self.name = name
    }

    /// The number of deliveries in the database at the last query, leased or not. Counted up to 10,000.
    package var waiting: Int { waitingCount.load(ordering: .relaxed) }
    package var sending: Int { sendingCount.load(ordering: .relaxed) }

    func isWaiting(_ count: Int) { waitingCount.store(count, ordering: .relaxed) }
    func isSending(_ count: Int) { sendingCount.store(count, ordering: .relaxed) }
    func noteResting(_ isResting: Bool) { self.isResting.store(isResting, ordering: .relaxed) }

    /// Writes the metrics of all providers. Writes nothing if there are none.
    package static func write(_ providers: [DeliveryMetrics], to text: inout MetricsText) {
        text.counter(
            "letsswitch_deliveries_total",
            "Number of delivery attempts, and of deliveries ended without an attempt, by outcome.",
            providers.flatMap { provider in
                Outcome.allCases.map {
                    MetricSample(
                        ["channel": provider.name.rawValue, "outcome": $0.rawValue], provider.outcomes.value($0))
                }
            })
        text.histogram(
            "letsswitch_delivery_seconds", "Duration of a delivery attempt.",
            providers.map { MetricSample(["channel": $0.name.rawValue], $0.latency.snapshot) })
        text.gauge(
            "letsswitch_deliveries_waiting",
            "Number of waiting deliveries at the last check. 10,000 includes any larger number.",
            providers.map { MetricSample(["channel": $0.name.rawValue], Double($0.waiting)) })
        text.gauge(
            "letsswitch_deliveries_in_flight", "Number of delivery attempts in progress.",
            providers.map { MetricSample(["channel": $0.name.rawValue], Double($0.sending)) })
        text.gauge(
            "letsswitch_channel_resting", "Whether a provider has stopped sending because of an error of its own.",
            providers.map { MetricSample(["channel": $0.name.rawValue], $0.isResting.load(ordering: .relaxed) ? 1 : 0) }
        )
    }
}
