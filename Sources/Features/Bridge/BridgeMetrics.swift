package import Observability
import Synchronization

/// The counters of the bridge. Any thread.
package final class BridgeMetrics: Sendable {
    enum Sending: String, Sendable, CaseIterable {
        /// The broker has confirmed it.
        case confirmed
        /// It is tried again.
        case failed
        /// A queue refused it for good; the others have it.
        case refused
        /// It was deleted meanwhile.
        case gone
    }

    enum Receiving: String, Sendable, CaseIterable {
        case stored, repeated
        /// It was sent by this server.
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
            "letsswitch_bridge_connected", "Whether the broker for conversations is there.",
            isConnected.load(ordering: .relaxed) ? 1 : 0)
        text.counter(
            "letsswitch_bridge_sent_total", "Messages for the broker, by what became of them.",
            sent.samples(label: "result"))
        text.counter(
            "letsswitch_bridge_received_total", "Messages from the broker, by what became of them.",
            received.samples(label: "result"))
        text.counter(
            "letsswitch_bridge_rejected_total", "Messages from the broker that aren't stored, by why.",
            rejections.samples(label: "reason"))
        text.gauge(
            "letsswitch_bridge_waiting", "Messages that wait for the broker, at the last look; 10,000 stands for more.",
            Double(waiting.load(ordering: .relaxed)))
    }
}
