import ActionCable
import Domain
import Features
import Observability
import Postgres
import Rooms
import Server

/// The content of `/metrics`.
struct MetricsPage: Sendable {
    let product: ProductMetrics
    let rooms: Rooms
    let cables: Cables
    let features: [any Feature]
    let storage: StorageQuota
    let pools: DatabasePools

    func render(_ application: Application) async -> [UInt8] {
        var text = MetricsText()
        let counters = await application.counters()
        counters.write(openConnections: application.openConnections, to: &text)
        product.tls.write(counters, to: &text)
        let census = await rooms.census()
        text.gauge("letsswitch_rooms_open", "Number of rooms that members can enter now.", Double(census.open))
        text.gauge("letsswitch_rooms", "Number of rooms with at least one member.", Double(census.occupied))
        text.gauge("letsswitch_room_members", "Number of connections in rooms.", Double(census.connections))
        text.gauge(
            "letsswitch_cable_connections", "Number of Action Cable connections.",
            Double(await cables.connectionCount()))
        product.write(features, to: &text)
        storage.write(to: &text)
        write(await pools.counts(), to: &text)
        ProcessMetrics.current()?.write(to: &text)
        return text.bytes
    }

    private func write(_ counts: PostgresPoolCounts, to text: inout MetricsText) {
        text.gauge(
            "letsswitch_db_pool_connections", "Number of connections to the database, by state.",
            [
                MetricSample(["state": "up"], Double(counts.connections)),
                MetricSample(["state": "connecting"], Double(counts.connecting)),
                MetricSample(["state": "ending"], Double(counts.ending)),
            ])
        text.gauge(
            "letsswitch_db_queries_in_flight", "Number of queries sent and not yet answered.", Double(counts.inFlight))
        text.gauge(
            "letsswitch_db_queries_waiting", "Number of queries that wait for a connection.", Double(counts.waiting))
    }
}
