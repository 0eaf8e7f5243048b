import Basics
import Daemons
import Features
import Notifications
import Observability
import Postgres
import Reminders
import Rooms
import Server

/// The parts that are sampled.
struct ReadingSources: Sendable {
    let application: Application
    let rooms: Rooms
    let metrics: ProductMetrics
    let providers: [DeliveryMetrics]
    let pools: DatabasePools

    func read() async -> Readings {
        var readings = Readings(at: .now())
        let loops = await application.counters()
        readings.gauges[.people] = Double(loops.openWebSockets + loops.openStreams)
        readings.counters[.received] = loops.receivedMessages
        readings.counters[.sent] = loops.sentMessages
        readings.gauges[.rooms] = Double(await rooms.census().occupied)
        readings.gauges[.waiting] = Double(await pools.counts().waiting)
        readings.counters[.busIn] = metrics.bus.packets.value(.received)
        readings.counters[.busOut] = metrics.bus.packets.value(.sent)
        readings.counters[.busLost] = metrics.bus.lost.value + metrics.bus.dropped.value
        let queries = metrics.database.totals
        readings.counters[.queries] = queries.answered + queries.failed
        readings.counters[.queryFailures] = queries.failed
        readings.queries = Readings.Mean(count: queries.timed, sum: queries.seconds)
        let lateness = metrics.reminders.reminderLateness.snapshot
        readings.lateness = Readings.Mean(count: lateness.count, sum: lateness.sum)
        for provider in providers {
            let accepted = provider.outcomes.value(.accepted)
            readings.counters[.accepted(provider.name)] = accepted
            readings.counters[.failed(provider.name)] =
                DeliveryMetrics.Outcome.allCases.map(provider.outcomes.value).reduce(0, +) - accepted
                - provider.outcomes.value(.orphaned)
        }
        return readings
    }
}
