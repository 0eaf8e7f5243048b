package import Observability
import Wire

/// The counters of Action Cable connections. Any thread may use them.
package struct CableMetrics: Sendable {

    package init() {
    }
    /// Client messages without effect.
    let ignored = CounterSet<CableFault>()
    let rejected = Counter()
    let disconnected = CounterSet<CableDisconnect>()

    package func write(to text: inout MetricsText) {
        text.counter(
            "letsswitch_cable_ignored_total", "Number of messages on /cable that had no effect, by reason.",
            ignored.samples(label: "reason"))
        text.counter("letsswitch_cable_rejected_total", "Number of rejected subscriptions on /cable.", rejected.value)
        text.counter(
            "letsswitch_cable_disconnects_total", "Number of /cable connections that the server ended, by reason.",
            disconnected.samples(label: "reason"))
    }
}
