import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// `/operations` and its samples, on one daemon and on two.
@Suite struct HistoryJourneyTests {
    private func samples(_ endpoint: ClientEndpoint, _ query: String = "") async throws -> TestJSON {
        let response = try await endpoint.get("/operations/samples\(query)")
        #expect(response.status == 200 && response.headers["Cache-Control"] == "no-store")
        return try response.json()
    }

    private func latest(_ series: String, _ answer: TestJSON) -> Double? {
        answer["series"][series].array?.compactMap(\.number).last
    }

    @Test("The history is only for operators, on their own listener")
    func audience() async throws {
        try await Journey.run { journey in
            let everywhere = try await journey.daemon()
            #expect(try await everywhere.get("/operations").status == 404)
            let (daemon, endpoint) = try await journey.process(["--operations-listen", "127.0.0.1:0"])
            let operations = try await daemon.nextListening()
            #expect(try await endpoint.get("/operations").status == 404)
            #expect(try await endpoint.get("/operations/samples").status == 404)
            let page = try await operations.get("/operations")
            #expect(page.status == 200 && page.headers["Content-Type"] == "text/html; charset=utf-8")
            let policy = page.headers["Content-Security-Policy"] ?? ""
            #expect(policy.contains("default-src 'none'") && policy.contains("require-trusted-types-for 'script'"))
            #expect(try await operations.get("/operations/icon.svg").headers["Content-Type"] == "image/svg+xml")
            #expect(try await operations.get("/operations/samples?span=year").status == 400)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test("The history shows values of one daemon and of both")
    func twoDaemons() async throws {
        try await Journey.run { journey in
            let flags = ["--operations-listen", "127.0.0.1:0", "--open-rooms"]
            let (first, here) = try await journey.process(flags)
            let operations = try await first.nextListening()
            let (second, there) = try await journey.process(flags)
            try await here.register("ada", try await journey.instant(in: 1_800))
            let room = UUID()
            var peers: [WebSocketTestClient] = []
            for endpoint in [here, here, there] { peers.append(try await endpoint.enter(room)) }
            try await eventually("this daemon's sample") {
                let own = try await samples(operations)
                return latest("people", own) == 2 && latest("rooms", own) == 1 && latest("due", own) == 1
                    && own["daemons"] == 1 && own["ready"] == true
            }
            try await eventually("both daemons' sample") {
                let all = try await samples(operations, "?of=all&span=hour")
                return all["daemons"] == 2 && all["step"] == 60
                    && all["series"]["people"].array?.count == 60 && (latest("people", all) ?? 0) > 2
            }
            let cheered = peers[0]
            try await eventually("messages a second") {
                try await cheered.send(text: RoomMessages.ale(room))
                return (latest("received", try await samples(operations)) ?? 0) > 0
            }
            let own = try await samples(operations, "?of=own&span=minute")
            #expect((own["series"]["queries"].array?.compactMap(\.number).max() ?? 0) > 0)
            for peer in peers { await peer.close() }
            for daemon in [first, second] { #expect(try await daemon.terminate() == .exited(0)) }
        }
    }
}
