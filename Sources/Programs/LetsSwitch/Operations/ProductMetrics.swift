import ActionCable
import Daemons
import Domain
import Features
import Notifications
import Observability
import Reminders
import Settings

/// The counters that the whole daemon shares. Each feature has its own counters.
struct ProductMetrics: Sendable {
    let reminders = ReminderMetrics()
    let cable = CableMetrics()
    let tls = TLSMetrics()
    let bus = BusMetrics()
    let database: DatabaseMetrics
    /// The requests that a full quota refused, over any protocol.
    let quotas = CounterSet<Quota>()

    /// - Parameter statements: See ``DatabaseMetrics/init(statements:)``.
    init(statements: [String]) {
        database = DatabaseMetrics(statements: statements)
    }

    /// - Parameter features: The features whose counters are written between those of the daemon.
    func write(_ features: [any Feature], to text: inout MetricsText) {
        text.counter(
            "letsswitch_turned_away_total",
            "Number of connections, streams and requests refused because a limit was reached, by limit.",
            features.flatMap(\.turnedAway) + quotas.samples(label: "cause"))
        for feature in features { feature.writeMetrics(to: &text) }
        cable.write(to: &text)
        bus.write(to: &text)
        database.write(to: &text)
        text.gauge(
            "letsswitch_build_info", "Always 1. The labels have the versions of the daemon and of Swift.",
            [MetricSample(["version": ProductVersion.number, "swift": ProductVersion.swift], 1)])
    }
}

extension ReminderMetrics: DeliveryObserver {
    package func remindersDelivered(_ count: Int) { reminders.add(.delivered, count) }
}
