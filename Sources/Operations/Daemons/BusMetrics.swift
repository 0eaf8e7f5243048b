import Basics
package import Observability

/// The metrics of other daemons and the bus. Any thread may use them.
package final class BusMetrics: Sendable {
    package enum Direction: String, Sendable, CaseIterable {
        case received = "in"
        case sent = "out"
    }

    /// A kind of bus, by its name (``BusChoice/busName``).
    package enum Kind: String, Sendable, CaseIterable {
        case postgresql, amqp, none
    }

    /// The time after which a bus counts as broken if it returns no packet to its sender.
    static let stalledAfter = Duration.seconds(10)

    /// The change of the bus that an echo, or its absence, shows.
    package enum EchoChange: Equatable {
        case lost, regained
    }

    private struct Gauges {
        var kind = Kind.none
        var isConnected = false
        var daemons: [Kind: Int] = [:]
        /// `nil` before the first echo, and without a bus.
        var delay: Duration?
        /// Whether no packets arrive although the bus is connected.
        var isStalled = false
    }

    /// The number of other daemons' ales that didn't arrive, known by gaps in their numbers.
    package let lost = Counter()
    /// The number of own ales that were dropped because the bus was unavailable or too slow.
    package let dropped = Counter()
    package let packets = CounterSet<Direction>()
    private let gauges = Locked(Gauges())

    package init() {}

    /// Records the bus in use and whether it is connected.
    package func noteBus(_ kind: Kind, isConnected: Bool) {
        gauges.withLock {
            ($0.kind, $0.isConnected) = (kind, isConnected && kind != .none)
            if kind == .none { $0.delay = nil }
            if !$0.isConnected { $0.isStalled = false }
        }
    }

    /// Records the other live daemons. An unknown bus counts as none, because it exchanges no packets with this daemon.
    package func noteDaemons(_ others: [DaemonInfo]) {
        let counts = Dictionary(grouping: others) { Kind(rawValue: $0.bus) ?? .none }.mapValues(\.count)
        gauges.withLock { $0.daemons = counts }
    }

    /// Records the round trip of a packet, or the time since the last packet came back.
    ///
    /// - Returns: A change to log.
    @discardableResult
    package func noteEcho(after delay: Duration) -> EchoChange? {
        gauges.withLock { gauges in
            let wasStalled = gauges.isStalled
            gauges.delay = delay
            gauges.isStalled = gauges.isConnected && delay > Self.stalledAfter
            return gauges.isStalled == wasStalled ? nil : wasStalled ? .regained : .lost
        }
    }

    /// The bus in use, and whether it is connected.
    package var inUse: (kind: Kind, isConnected: Bool) { gauges.withLock { ($0.kind, $0.isConnected) } }

    var status: BusStatus {
        let gauges = gauges.withLock { $0 }
        return BusStatus(
            isConnected: gauges.isConnected, delay: gauges.delay, lost: lost.value, dropped: dropped.value)
    }

    /// The number of other live daemons.
    package var others: Int { gauges.withLock { $0.daemons.values.reduce(0, +) } }

    package func write(to text: inout MetricsText) {
        let gauges = gauges.withLock { $0 }
        text.gauge(
            "letsswitch_bus_daemons", "Number of other live daemons on the database, by their bus.",
            Kind.allCases.map { MetricSample(["bus": $0.rawValue], Double(gauges.daemons[$0] ?? 0)) })
        text.gauge(
            "letsswitch_bus_connected",
            "Whether the bus in use is connected. The bus is none without another daemon.",
            [MetricSample(["bus": gauges.kind.rawValue], gauges.isConnected ? 1 : 0)])
        text.gauge(
            "letsswitch_bus_stalled",
            "Whether the bus is connected but hasn't returned this daemon's own packets for 10 seconds.",
            gauges.isStalled ? 1 : 0)
        if let delay = gauges.delay {
            text.gauge(
                "letsswitch_bus_delay_seconds",
                "Last round trip of a packet to this daemon itself, or the time since one returned.",
                delay / .seconds(1))
        }
        text.counter(
            "letsswitch_bus_packets_total", "Number of packets on the bus, by direction.",
            packets.samples(label: "direction"))
        text.counter("letsswitch_bus_lost_total", "Number of other daemons' ales that didn't arrive.", lost.value)
        text.counter(
            "letsswitch_bus_dropped_total",
            "Number of ales not sent to other daemons because the bus was unavailable or too slow.",
            dropped.value)
    }
}
