import Observability
import Server

/// The server's counters on `/metrics`. A cause that a setting limits has that setting's name.
extension LoopCounters {
    /// - Parameter openConnections: The number of connections of every kind.
    func write(openConnections: Int, to text: inout MetricsText) {
        text.gauge(
            "letsswitch_connections", "Open connections by kind.",
            [
                MetricSample(["kind": "websocket"], Double(openWebSockets)),
                MetricSample(["kind": "stream"], Double(openStreams)),
                MetricSample(
                    ["kind": "http"],
                    Double(max(0, openConnections - openWebSockets - openStreams))),
            ])
        text.counter(
            "letsswitch_connections_accepted_total", "Connections accepted.", acceptedConnections)
        text.counter(
            "letsswitch_connections_refused_total",
            "Connections closed at once, and requests of proxied ones, by cause.",
            [
                MetricSample(["cause": "max-connections"], refusedConnections),
                MetricSample(["cause": "max-connections-per-address"], connectionsOverAddressLimit),
                MetricSample(["cause": "connection-rate"], rateLimitedConnections),
                MetricSample(["cause": "proxy-protocol"], refusedProxies),
            ])
        text.counter(
            "letsswitch_upgrades_refused_total", "Attempts at a WebSocket refused before the room was asked, by cause.",
            [
                MetricSample(["cause": "upgrade-rate"], rateLimitedUpgrades),
                MetricSample(["cause": "allowed-origins"], crossOriginUpgrades),
            ])
        text.counter(
            "letsswitch_requests_refused_total", "Requests refused before anything was asked for them, by cause.",
            [
                MetricSample(["cause": "hosts"], refusedHosts),
                MetricSample(["cause": "allowed-origins"], crossOriginWrites),
                MetricSample(["cause": "request-rate"], rateLimitedRequests),
                MetricSample(["cause": "write-rate"], rateLimitedWrites),
                MetricSample(["cause": "registrations-per-day"], rateLimitedRegistrations),
            ])
        text.counter(
            "letsswitch_listener_rests_total", "Times that descriptors or memory were used up.",
            listenerRests)
        text.counter(
            "letsswitch_http_responses_total", "Answers by status.",
            responses.sorted { $0.key < $1.key }.map { MetricSample(["status": "\($0.key)"], $0.value) })
        text.counter("letsswitch_websockets_opened_total", "WebSockets opened.", openedWebSockets)
        text.counter(
            "letsswitch_websockets_closed_total", "WebSockets closed, by close code; 3xxx and 4xxx are peers' own.",
            closedWebSockets.sorted { $0.key < $1.key }.map { code, count in
                MetricSample(["code": code < 3000 ? "\(code)" : "\(code / 1000)xxx"], count)
            })
        text.counter(
            "letsswitch_messages_received_total", "WebSocket messages from peers.", receivedMessages)
        text.counter("letsswitch_messages_sent_total", "WebSocket messages to peers.", sentMessages)
        text.counter(
            "letsswitch_messages_left_out_total",
            "Those of the messages to peers that were ales, and left out because they hadn't read others.",
            leftOutMessages)
        text.counter(
            "letsswitch_compressed_messages_received_total", "Those of the messages from peers that were compressed.",
            receivedCompressedMessages)
        text.counter(
            "letsswitch_compressed_messages_sent_total", "Those of the messages to peers that were compressed.",
            sentCompressedMessages)
        text.counter(
            "letsswitch_timeouts_total", "Peers that took longer than they may, by cause.",
            TimeLimit.allCases.map { MetricSample(["cause": $0.setting], timeouts[$0] ?? 0) })
        text.counter(
            "letsswitch_slow_peers_total", "Peers cut off because they did not read.", slowPeers)
        text.counter(
            "letsswitch_hasty_peers_total", "Peers cut off because they sent too fast.", rateLimitedPeers)
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
