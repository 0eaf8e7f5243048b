import Domain
import Foundation
import JourneyTestSupport
import TestSupport
import Testing

@Suite struct OperatorJourneyTests {
    @Test("A running daemon reports its health")
    func health() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            #expect(try await endpoint.get("/healthz").status == 200)
            let ready = try await endpoint.get("/readyz")
            #expect(ready.status == 200)
            #expect(
                try ready.json() == ["ready": true, "database": true, "migrated": true, "draining": false])
            let missing = try await endpoint.get("/nowhere")
            #expect(missing.status == 404)
            let members = try missing.json()
            #expect(members["error"] == true && members["code"].string != nil && members["reason"].string != nil)
            let method = try await endpoint.get("/task")
            #expect(method.status == 405 && method.headers["Allow"] == "POST, OPTIONS")
        }
    }

    @Test(
        "An invalid request is refused by its member",
        arguments: [
            ("", ""), ("{", ""), ("[]", ""),
            (#"{"startsAt":"START","title":"x"}"#, "deviceId"),
            (#"{"deviceId":" ","startsAt":"START","title":"x"}"#, "deviceId"),
            (#"{"deviceId":"a","startsAt":"START"}"#, "title"),
            (#"{"deviceId":"a","startsAt":"START","title":7}"#, "title"),
            (#"{"deviceId":"a","startsAt":"START","title":"\u0000"}"#, "title"),
            (#"{"deviceId":"a","startsAt":"tomorrow","title":"x"}"#, "startsAt"),
            (#"{"deviceId":"a","startsAt":"START","timeZone":"UTC+9","title":"x"}"#, "timeZone"),
            (#"{"deviceId":"a","date":"2026-11-22","startTime":"25:00","title":"x"}"#, "startTime"),
            (
                #"{"deviceId":"a","date":"2026-03-29","startTime":"01:30","timeZone":"Europe/London","title":"x"}"#,
                "startTime"
            ),
            (#"{"deviceId":"a","startTime":"09:00","title":"x"}"#, "date"),
            (#"{"deviceId":"a","date":"2026-11-22T12:00:00Z","startTime":"09:00","title":"x"}"#, "timeZone"),
        ])
    func refusals(body: String, member: String) async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await journey.advance(to: try #require(Instant("2026-03-01T00:00:00Z")))
            let start = try await journey.instant(in: 3600)
            let bytes = Array(body.replacing("START", with: "\(start)").utf8)
            let response = try await HTTPTestClient.request(at: endpoint, "POST", "/task", body: bytes)
            #expect(response.status == 400 && response.code == "invalid_request")
            let reason = try #require(try response.json()["reason"].string)
            #expect(!reason.isEmpty && (member.isEmpty || reason.contains(member)))
        }
    }

    private static let limitCounters: [(String, [String])] = [
        (
            "letsswitch_connections_refused_total",
            ["max-connections", "max-connections-per-address", "connection-rate", "proxy-protocol"]
        ),
        ("letsswitch_upgrades_refused_total", ["upgrade-rate", "allowed-origins"]),
        (
            "letsswitch_requests_refused_total",
            ["hosts", "allowed-origins", "request-rate", "write-rate", "registrations-per-day"]
        ),
        (
            "letsswitch_timeouts_total",
            ["header-timeout", "body-timeout", "keep-alive-timeout", "write-timeout", "pong-timeout", "close-timeout"]
        ),
        (
            "letsswitch_turned_away_total",
            ["room-size", "max-streams-per-device"] + Quota.allCases.map(\.rawValue)
        ),
        ("letsswitch_slow_peers_total", [""]), ("letsswitch_hasty_peers_total", [""]),
        ("letsswitch_compressed_messages_received_total", [""]),
        ("letsswitch_compressed_messages_sent_total", [""]), ("letsswitch_listener_rests_total", [""]),
    ]

    @Test("The metrics page is valid and counts events")
    func metrics() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let before = try await MetricsReading(endpoint)
            #expect(before["letsswitch_messages_received_total"] == 0)
            let start = try await journey.instant(in: 3600)
            let room = try await endpoint.pair("ada", "bob", start)
            let other = Instant(seconds: start.seconds + 1)
            try await endpoint.register("cleo", other)
            #expect(try await endpoint.post("/task/delete", ClientEndpoint.task("ada", start, "")).status == 409)
            #expect(try await endpoint.post("/task", "nonsense").status == 400)
            let streams = try await ["ada", "bob", "cleo"].asyncMap { try await endpoint.reminders(of: $0) }
            try await journey.advance(to: other, -60)
            for stream in streams { _ = try await stream.nextReminder() }
            let peers = [
                try await endpoint.enter(room), try await endpoint.enter(room), try await endpoint.enter(room),
            ]
            try await peers[0].send(text: RoomMessages.ale(room))
            for peer in peers.dropFirst() { #expect(try await peer.nextMessage() == RoomMessages.cheer) }
            try await peers[0].closeHandshake(1000)
            let metrics = try await MetricsReading.wait(at: endpoint) {
                $0[#"letsswitch_reminders_total{outcome="delivered"}"#] == 3 && $0["letsswitch_room_members"] == 2
                    && $0["letsswitch_reminder_lateness_seconds_count"] == 3
            }
            let expected: [String: Double] = [
                #"letsswitch_tasks_total{outcome="registered"}"#: 3, #"letsswitch_tasks_total{outcome="refused"}"#: 1,
                "letsswitch_pairs_total": 1, "letsswitch_unpaired_total": 1,
                #"letsswitch_reminders_total{outcome="fired"}"#: 3,
                #"letsswitch_reminders_total{outcome="delivered"}"#: 3,
                #"letsswitch_reminders_total{outcome="missed"}"#: 0,
                "letsswitch_reminder_lateness_seconds_count": 3,
                "letsswitch_reminder_delivery_lateness_seconds_count": 3,
                #"letsswitch_reminder_lateness_seconds_bucket{le="+Inf"}"#: 3,
                #"letsswitch_connections{kind="websocket"}"#: 2, #"letsswitch_connections{kind="stream"}"#: 3,
                "letsswitch_rooms_open": 1, "letsswitch_rooms": 1, "letsswitch_room_members": 2,
                "letsswitch_messages_received_total": 1, "letsswitch_messages_sent_total": 5,
                "letsswitch_websockets_opened_total": 3, #"letsswitch_websockets_closed_total{code="1000"}"#: 1,
                #"letsswitch_http_responses_total{status="201"}"#: 3,
                #"letsswitch_http_responses_total{status="409"}"#: 1,
                #"letsswitch_http_responses_total{status="400"}"#: 1,
                #"letsswitch_http_responses_total{status="101"}"#: 3,
            ]
            for (name, value) in expected { #expect(metrics[name] == value, "\(name)") }
            // Each limit has a counter that is present from the start.
            for (name, causes) in Self.limitCounters {
                for cause in causes {
                    let sample = cause.isEmpty ? name : "\(name){cause=\"\(cause)\"}"
                    #expect(metrics.samples[sample] == 0, "\(sample)")
                }
            }
            #expect(metrics[#"letsswitch_db_query_seconds_count{name="register_task"}"#] == 3)
            #expect(metrics["process_resident_memory_bytes"] > 0)
        }
    }
}
