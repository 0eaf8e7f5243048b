import Basics
package import Observability

/// What there is to know about the other daemons and the way to them. Any thread.
package final class BusMetrics: Sendable {
    package enum Direction: String, Sendable, CaseIterable {
        case received = "in"
        case sent = "out"
    }

    /// A bus, by the name that daemons give it (``BusChoice/busName``).
    package enum Kind: String, Sendable, CaseIterable {
        case postgresql, amqp, none
    }

    /// A bus that hasn't returned a packet to its sender for longer doesn't carry anything.
    static let deafAfter = Duration.seconds(10)

    /// What an echo, or its absence, has changed.
    package enum Hearing: Equatable {
        case lost, regained
    }

    private struct Gauges {
        var kind = Kind.none
        var isConnected = false
        var daemons: [Kind: Int] = [:]
        /// `nil`: none has come back yet, or there is no bus.
        var delay: Duration?
        /// Nothing comes, although the bus is connected.
        var isDeaf = false
    }

    /// Ales of other daemons that didn't arrive: gaps in their numbers.
    package let lost = Counter()
    /// Ales that this daemon gave up, since the bus was away or too slow.
    package let dropped = Counter()
    package let packets = CounterSet<Direction>()
    private let gauges = Locked(Gauges())

    package init() {}

    /// Which bus is used from now on, and whether it stands.
    package func noteBus(_ kind: Kind, isConnected: Bool) {
        gauges.withLock {
            ($0.kind, $0.isConnected) = (kind, isConnected && kind != .none)
            if kind == .none { $0.delay = nil }
            if !$0.isConnected { $0.isDeaf = false }
        }
    }

    /// The others that are alive. A bus whose name this build doesn't know counts as none: nothing crosses.
    package func noteDaemons(_ others: [DaemonInfo]) {
        let counts = Dictionary(grouping: others) { Kind(rawValue: $0.bus) ?? .none }.mapValues(\.count)
        gauges.withLock { $0.daemons = counts }
    }

    /// How long a packet took that this daemon sent to itself, or for how long none has come back.
    ///
    /// - Returns: A change that is worth a line in the log.
    @discardableResult
    package func noteEcho(after delay: Duration) -> Hearing? {
        gauges.withLock { gauges in
            let wasDeaf = gauges.isDeaf
            gauges.delay = delay
            gauges.isDeaf = gauges.isConnected && delay > Self.deafAfter
            return gauges.isDeaf == wasDeaf ? nil : wasDeaf ? .regained : .lost
        }
    }

    /// The bus in use, and whether it stands.
    package var inUse: (kind: Kind, isConnected: Bool) { gauges.withLock { ($0.kind, $0.isConnected) } }

    var standing: BusStanding {
        let gauges = gauges.withLock { $0 }
        return BusStanding(
            isConnected: gauges.isConnected, delay: gauges.delay, lost: lost.value, dropped: dropped.value)
    }

    /// Other daemons that are alive.
    package var others: Int { gauges.withLock { $0.daemons.values.reduce(0, +) } }

    package func write(to text: inout MetricsText) {
        let gauges = gauges.withLock { $0 }
        text.gauge(
            "letsswitch_bus_daemons", "Other daemons alive on the database, by their bus.",
            Kind.allCases.map { MetricSample(["bus": $0.rawValue], Double(gauges.daemons[$0] ?? 0)) })
        text.gauge(
            "letsswitch_bus_connected", "Whether the bus in use stands; none while there is nobody to speak to.",
            [MetricSample(["bus": gauges.kind.rawValue], gauges.isConnected ? 1 : 0)])
        text.gauge(
            "letsswitch_bus_deaf", "Whether the bus is connected and has returned nothing for 10 seconds.",
            gauges.isDeaf ? 1 : 0)
        if let delay = gauges.delay {
            text.gauge(
                "letsswitch_bus_delay_seconds",
                "The last round trip of a packet to ourselves, or how long none has come back.", delay / .seconds(1))
        }
        text.counter("letsswitch_bus_packets_total", "Packets on the bus.", packets.samples(label: "direction"))
        text.counter("letsswitch_bus_lost_total", "Other daemons' ales that didn't arrive.", lost.value)
        text.counter(
            "letsswitch_bus_dropped_total", "Ales that no other daemon was told of: the bus was away, or too slow.",
            dropped.value)
    }
}
