import Delivery
import Domain
import Observability
import Postgres
import Rooms
import Scheduling
import Server

/// Everything that `/metrics` shows.
struct MetricsPage: Sendable {
    let product: ProductMetrics
    let rooms: Rooms
    let providers: [DeliveryMetrics]
    let storage: StorageQuota
    /// Connections to the database.
    let connections: @Sendable () async -> PostgresPoolCounts

    func render(_ application: Application) async -> [UInt8] {
        var text = MetricsText()
        let counters = await application.counters()
        write(counters, openConnections: application.openConnections, to: &text)
        product.tls.write(counters, to: &text)
        let census = await rooms.census()
        text.gauge("letsswitch_rooms_open", "Rooms that can be entered.", Double(census.open))
        text.gauge("letsswitch_rooms", "Rooms with somebody in them.", Double(census.occupied))
        text.gauge("letsswitch_room_members", "Connections in rooms.", Double(census.connections))
        product.write(to: &text)
        DeliveryMetrics.write(providers, to: &text)
        storage.write(to: &text)
        write(await connections(), to: &text)
        ProcessMetrics.current()?.write(to: &text)
        return text.bytes
    }

    private func write(_ counters: LoopCounters, openConnections: Int, to text: inout MetricsText) {
        text.gauge(
            "letsswitch_connections", "Open connections by kind.",
            [
                MetricSample(["kind": "websocket"], Double(counters.openWebSockets)),
                MetricSample(["kind": "stream"], Double(counters.openStreams)),
                MetricSample(
                    ["kind": "http"],
                    Double(max(0, openConnections - counters.openWebSockets - counters.openStreams))),
            ])
        text.counter(
            "letsswitch_connections_accepted_total", "Connections accepted.", counters.acceptedConnections)
        text.counter(
            "letsswitch_connections_refused_total",
            "Connections closed at once, and requests of proxied ones, by cause.",
            [
                MetricSample(["cause": "max-connections"], counters.refusedConnections),
                MetricSample(["cause": "max-connections-per-address"], counters.crowdedAddresses),
                MetricSample(["cause": "connection-rate"], counters.hastyAddresses),
                MetricSample(["cause": "proxy-protocol"], counters.refusedProxies),
            ])
        text.counter(
            "letsswitch_upgrades_refused_total", "Attempts at a WebSocket refused before the room was asked, by cause.",
            [
                MetricSample(["cause": "upgrade-rate"], counters.refusedUpgrades),
                MetricSample(["cause": "allowed-origins"], counters.refusedOrigins),
            ])
        text.counter(
            "letsswitch_requests_refused_total", "Requests refused before anything was asked for them, by cause.",
            [
                MetricSample(["cause": "hosts"], counters.refusedHosts),
                MetricSample(["cause": "allowed-origins"], counters.refusedWrites),
                MetricSample(["cause": "request-rate"], counters.hastyRequests),
                MetricSample(["cause": "write-rate"], counters.hastyWrites),
                MetricSample(["cause": "registrations-per-day"], counters.hastyRegistrations),
            ])
        text.counter(
            "letsswitch_listener_rests_total", "Times that descriptors or memory were used up.",
            counters.listenerRests)
        text.counter(
            "letsswitch_http_responses_total", "Answers by status.",
            counters.responses.sorted { $0.key < $1.key }.map { MetricSample(["status": "\($0.key)"], $0.value) })
        text.counter("letsswitch_websockets_opened_total", "WebSockets opened.", counters.openedWebSockets)
        text.counter(
            "letsswitch_websockets_closed_total", "WebSockets closed, by close code; 3xxx and 4xxx are peers' own.",
            counters.closedWebSockets.sorted { $0.key < $1.key }.map { code, count in
                MetricSample(["code": code < 3000 ? "\(code)" : "\(code / 1000)xxx"], count)
            })
        text.counter(
            "letsswitch_messages_received_total", "WebSocket messages from peers.", counters.receivedMessages)
        text.counter("letsswitch_messages_sent_total", "WebSocket messages to peers.", counters.sentMessages)
        text.counter(
            "letsswitch_compressed_messages_received_total", "Those of the messages from peers that were compressed.",
            counters.receivedCompressedMessages)
        text.counter(
            "letsswitch_compressed_messages_sent_total", "Those of the messages to peers that were compressed.",
            counters.sentCompressedMessages)
        text.counter(
            "letsswitch_timeouts_total", "Peers that took longer than they may, by cause.",
            TimeLimit.allCases.map { MetricSample(["cause": $0.rawValue], counters.timeouts[$0] ?? 0) })
        text.counter(
            "letsswitch_slow_peers_total", "Peers cut off because they did not read.", counters.slowPeers)
        text.counter(
            "letsswitch_hasty_peers_total", "Peers cut off because they sent too fast.", counters.hastyPeers)
    }

    private func write(_ counts: PostgresPoolCounts, to text: inout MetricsText) {
        text.gauge(
            "letsswitch_db_pool_connections", "Connections to the database by state.",
            [
                MetricSample(["state": "up"], Double(counts.connections)),
                MetricSample(["state": "connecting"], Double(counts.connecting)),
                MetricSample(["state": "ending"], Double(counts.ending)),
            ])
        text.gauge("letsswitch_db_queries_in_flight", "Queries on their way.", Double(counts.inFlight))
        text.gauge("letsswitch_db_queries_waiting", "Queries without a connection.", Double(counts.waiting))
    }
}
