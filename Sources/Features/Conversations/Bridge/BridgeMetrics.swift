package import Observability
import Synchronization

/// The counters of the bridge. Any thread may use them.
package final class BridgeMetrics: Sendable {
    enum Sending: String, Sendable, CaseIterable {
        /// The broker has confirmed the message.
        case confirmed
        /// Sending the message failed. The bridge tries again.
        case failed
        /// A queue refused the message several times, so it was given up for this queue. The other queues have the
        /// message.
        case refused
        /// The message was deleted before it was sent.
        case gone
    }

    enum Receiving: String, Sendable, CaseIterable {
        case stored, repeated
        /// This server sent the message.
        case own
        case rejected
    }

    let sent = CounterSet<Sending>()
    let received = CounterSet<Receiving>()
    let rejections = CounterSet<RejectionReason>()
    private let isConnected = Atomic<Bool>(false)
    private let waiting = Atomic<Int>(0)

    package init() {}

    func stands(_ isConnected: Bool) { self.isConnected.store(isConnected, ordering: .relaxed) }
    func waits(_ count: Int) { waiting.store(count, ordering: .relaxed) }

    package func write(to text: inout MetricsText) {
        text.gauge(
            "letsswitch_bridge_connected", "Whether the broker for conversations is connected.",
            isConnected.load(ordering: .relaxed) ? 1 : 0)
        text.counter(
            "letsswitch_bridge_sent_total", "Number of messages for the broker, by result.",
            sent.samples(label: "result"))
        text.counter(
            "letsswitch_bridge_received_total", "Number of messages from the broker, by result.",
            received.samples(label: "result"))
        text.counter(
            "letsswitch_bridge_rejected_total", "Number of messages from the broker that weren't stored, by reason.",
            rejections.samples(label: "reason"))
        text.gauge(
            "letsswitch_bridge_waiting",
            "Number of messages waiting for the broker at the last check. 10,000 includes any larger number.",
            Double(waiting.load(ordering: .relaxed)))
    }
}
