package import Domain
package import Observability

/// The counters of conversations. Any thread may use them.
package struct ConversationMetrics: Sendable {
    /// Quotas that were exceeded through sockets. The HTTP server counts those of requests.
    let quotas: CounterSet<Quota>

    package init(quotas: CounterSet<Quota>) {
        self.quotas = quotas
    }

    enum Outcome: String, Sendable, CaseIterable {
        case stored, repeated, refused
    }

    let messages = CounterSet<Outcome>()

    package func write(to text: inout MetricsText) {
        text.counter(
            "letsswitch_messages_total", "Number of conversation messages sent through this daemon, by result.",
            messages.samples(label: "result"))
    }
}
