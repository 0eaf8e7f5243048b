import Observability
import Server

/// The server's counters on `/metrics`. If a setting limits a cause, the cause has the setting's name.
extension LoopCounters {
    /// - Parameter openConnections: The number of connections of every kind.
    func write(openConnections: Int, to text: inout MetricsText) {
        text.gauge(
            "letsswitch_connections", "Number of open connections, by kind.",
            [
                MetricSample(["kind": "websocket"], Double(openWebSockets)),
                MetricSample(["kind": "stream"], Double(openStreams)),
                MetricSample(
                    ["kind": "http"],
                    Double(max(0, openConnections - openWebSockets - openStreams))),
            ])
        text.counter(
            "letsswitch_connections_accepted_total", "Number of accepted connections.", acceptedConnections)
        text.counter(
            "letsswitch_connections_refused_total",
            "Number of connections closed at once, and of requests refused on a proxy's connections, by cause.",
            [
                MetricSample(["cause": "max-connections"], refusedConnections),
                MetricSample(["cause": "max-connections-per-address"], connectionsOverAddressLimit),
                MetricSample(["cause": "connection-rate"], rateLimitedConnections),
                MetricSample(["cause": "proxy-protocol"], refusedProxies),
            ])
        text.counter(
            "letsswitch_upgrades_refused_total",
            "Number of WebSocket handshakes refused before the route was called, by cause.",
            [
                MetricSample(["cause": "upgrade-rate"], rateLimitedUpgrades),
                MetricSample(["cause": "allowed-origins"], crossOriginUpgrades),
            ])
        text.counter(
            "letsswitch_requests_refused_total", "Number of requests refused before the route was called, by cause.",
            [
                MetricSample(["cause": "hosts"], refusedHosts),
                MetricSample(["cause": "allowed-origins"], crossOriginWrites),
                MetricSample(["cause": "request-rate"], rateLimitedRequests),
                MetricSample(["cause": "write-rate"], rateLimitedWrites),
                MetricSample(["cause": "registrations-per-day"], rateLimitedRegistrations),
            ])
        text.counter(
            "letsswitch_listener_rests_total",
            "Number of times that the server stopped accepting because it had no descriptors or memory left.",
            listenerRests)
        text.counter(
            "letsswitch_http_responses_total", "Number of answers, by status.",
            responses.sorted { $0.key < $1.key }.map { MetricSample(["status": "\($0.key)"], $0.value) })
        text.counter("letsswitch_websockets_opened_total", "Number of opened WebSockets.", openedWebSockets)
        text.counter(
            "letsswitch_websockets_closed_total",
            "Number of closed WebSockets, by close code. Clients choose codes 3xxx and 4xxx.",
            closedWebSockets.sorted { $0.key < $1.key }.map { code, count in
                MetricSample(["code": code < 3000 ? "\(code)" : "\(code / 1000)xxx"], count)
            })
        text.counter(
            "letsswitch_messages_received_total", "Number of WebSocket messages received from clients.",
            receivedMessages)
        text.counter(
            "letsswitch_messages_sent_total", "Number of WebSocket messages sent to clients, including ales left out.",
            sentMessages)
        text.counter(
            "letsswitch_messages_left_out_total",
            "Number of ales not sent to WebSocket clients that hadn't read earlier ales.",
            leftOutMessages)
        text.counter(
            "letsswitch_compressed_messages_received_total",
            "Number of received WebSocket messages that were compressed.",
            receivedCompressedMessages)
        text.counter(
            "letsswitch_compressed_messages_sent_total", "Number of sent WebSocket messages that were compressed.",
            sentCompressedMessages)
        text.counter(
            "letsswitch_timeouts_total", "Number of connections closed because a time limit was exceeded, by limit.",
            TimeLimit.allCases.map { MetricSample(["cause": $0.setting], timeouts[$0] ?? 0) })
        text.counter(
            "letsswitch_slow_peers_total", "Number of connections closed because the client didn't read.", slowPeers)
        text.counter(
            "letsswitch_hasty_peers_total", "Number of connections closed because the client sent too fast.",
            rateLimitedPeers)
    }
}

extension TimeLimit {
    /// The setting that limits this time.
    fileprivate var setting: String {
        switch self {
        case .header: "header-timeout"
        case .body: "body-timeout"
        case .keepAlive: "keep-alive-timeout"
        case .write: "write-timeout"
        case .pong: "pong-timeout"
        case .close: "close-timeout"
        }
    }
}
