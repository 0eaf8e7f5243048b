import Observability

/// What the event streams count. Any thread.
struct EventStreamMetrics: Sendable {
    /// From the due instant to the first stream that took the reminder.
    let deliveryLateness = SharedHistogram(bounds: Histogram.latenessBounds)
    /// Streams beyond what a device may have open.
    let turnedAway = Counter()

    func write(to text: inout MetricsText) {
        text.histogram(
            "letsswitch_reminder_delivery_lateness_seconds", "From the due instant to the first delivery.",
            deliveryLateness.snapshot)
    }
}
