import Foundation
import JourneyTestSupport
import Matches
import Settings
import TestSupport
import Testing

/// Requests of pages from other origins, and requests for host names that aren't the daemon's.
@Suite struct EdgeJourneyTests {
    @Test("A page of another origin can neither register nor cancel")
    func foreignPages() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 3600)
            let task = ClientEndpoint.task("ada", start, "History")
            for headers: TestHeaders in [["Origin": "https://evil.example"], ["Sec-Fetch-Site": "cross-site"]] {
                let refused = try await HTTPTestClient.request(
                    at: endpoint, "POST", "/task", headers: headers, json: task)
                #expect(refused.status == 403 && refused.code == "origin_not_allowed")
            }
            #expect(try await journey.count("schedule.task") == 0)
            let own: TestHeaders = ["Origin": "http://\(endpoint.authority)", "Sec-Fetch-Site": "same-origin"]
            let registered = try await HTTPTestClient.request(at: endpoint, "POST", "/task", headers: own, json: task)
            #expect(registered.status == 201 && registered.headers["Cache-Control"] == "no-store")
            for (method, target) in [("DELETE", "/device?deviceId=ada"), ("POST", "/task/delete")] {
                let refused = try await HTTPTestClient.request(
                    at: endpoint, method, target, headers: ["Origin": "https://evil.example"], json: task)
                #expect(refused.status == 403)
            }
            #expect(try await journey.count("schedule.task") == 1)
            #expect(
                try await MetricsReading(endpoint)[#"letsswitch_requests_refused_total{cause="allowed-origins"}"#] == 4)
        }
    }

    @Test("An unknown Host is refused, and the log says how to allow it")
    func otherHosts() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.process(
                ["--open-rooms", "--public-url", "https://letsswitch.example/"])
            let room = UUID()
            for target in ["/metrics", "/readyz", "/", "/schedule?deviceId=ada", "/socket?id=\(room.uuidString)"] {
                let refused = try await HTTPTestClient.request(
                    at: endpoint, "GET", target, headers: ["Host": "evil.example"])
                #expect(refused.status == 421 && refused.code == "host_not_allowed", "\(target)")
            }
            let line = try await daemon.waitForLog(
                "refused a request for another host name: if people use that name for this server, set --public-url or --hosts"
            )
            #expect(line["host"].string == "evil.example" && line["level"].string == "warning")
            for host in ["letsswitch.example", "localhost:1", "\(endpoint)"] {
                let answer = try await HTTPTestClient.request(at: endpoint, "GET", "/readyz", headers: ["Host": host])
                #expect(answer.status == 200)
            }
            // A load balancer checks the health under any host name.
            let healthy = try await HTTPTestClient.request(
                at: endpoint, "GET", "/healthz", headers: ["Host": "evil.example"])
            #expect(healthy.status == 200)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test("Operators' routes are only on their listener if there is one")
    func operations() async throws {
        try await Journey.run { journey in
            let (daemon, people) = try await journey.process(["--operations-listen", "127.0.0.1:0"])
            let line = try await daemon.waitForLog("listening")
            #expect(line["serves"].string == "operations")
            let operators = try #require(line["address"].string.flatMap { ClientEndpoint($0) })
            for (target, forPeople, forOperators) in [
                ("/metrics", 404, 200), ("/readyz", 404, 200), ("/healthz", 200, 200), ("/", 200, 404),
                ("/reminders?deviceId=", 400, 404), ("/socket", 400, 404),
            ] {
                #expect(try await people.get(target).status == forPeople, "\(target)")
                #expect(try await operators.get(target).status == forOperators, "\(target)")
            }
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test("Close codes chosen by a peer add no lines to the metrics")
    func closeCodes() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let room = UUID()
            for code: UInt16 in [3000, 3001, 4000, 4001, 4999] {
                try await endpoint.enter(room).closeHandshake(code)
            }
            let metrics = try await MetricsReading.wait(at: endpoint) {
                $0.samples[#"letsswitch_websockets_closed_total{code="4xxx"}"#] == 3
            }
            let closed = metrics.samples.keys.filter { $0.hasPrefix("letsswitch_websockets_closed_total") }
            #expect(closed.count == 2 && metrics[#"letsswitch_websockets_closed_total{code="3xxx"}"#] == 2)
        }
    }
}
