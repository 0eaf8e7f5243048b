import Domain
import Foundation
import Glibc
import JourneyTestSupport
import Postgres
import TestSupport
import Testing

/// SIGTERM while the daemon has all kinds of work.
@Suite struct DrainUnderLoadTests {
    /// The number of requests that can't be answered before the signal, so they are certainly in progress.
    private static let heldRequests = 6

    @Test(
        "After SIGTERM under load, a daemon ends gracefully"
    )
    func load() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.process([
                "--open-rooms", "--database-connections", "12", "--database-timeout", "60s",
            ])
            let start = try await journey.instant(in: 3600)
            let room = try await endpoint.pair("ada", "bob", start)
            let far = Instant(seconds: start.seconds + 7200)

            let load = (0..<4).map { lane in
                Task { await answers(to: "lane-\(lane)", at: Instant(seconds: far.seconds + 60), endpoint) }
            }
            try await journey.wait(until: "(SELECT count(*) FROM schedule.task WHERE title = 'Load') > 20")
            var peers: [WebSocketTestClient] = []
            for _ in 0..<20 { peers.append(try await endpoint.enter(room)) }
            let cheering = Task<Void, any Error> { [peers] in
                while true {
                    try await peers[0].send(text: RoomMessages.ale(room))
                    guard try await peers[1].nextMessage() == RoomMessages.cheer else { continue }
                }
            }
            // Registrations in a slot that another session has locked. Some wait for the lock, and the others behind
            // those.
            let holder = try await PostgresSession.connect(PostgresConfiguration(conninfo: journey.conninfo))
            try await holder.execute("SELECT pg_advisory_lock((19539::bigint << 48) + \(far.seconds))")
            let held = try await (0..<Self.heldRequests).map { $0 }.asyncMap { number in
                let client = try await HTTPTestClient.connect(to: endpoint)
                let body = try ClientEndpoint.task("held-\(number)", far, "Held").encoded()
                try await client.sendHead(
                    "POST", "/task", headers: ["Content-Length": "\(body.count)", "Expect": "100-continue"])
                #expect(try await client.readHead().status == 100)
                try await client.connection.send(body)
                return client
            }
            try await journey.wait(
                until: """
                    EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
                    """)
            // The reminders are claimed at the moment of the signal.
            let gate = try await StatementGate.close(at: .claim, in: journey)
            try await journey.advance(to: start, -60)
            try await gate.waitForStatements()

            await daemon.signal(SIGTERM)
            for peer in peers[2...] { try await peer.expectClose(1001, passingOver: true) }
            do { try await cheering.value } catch let close as TestClose { #expect(close.code == 1001) }
            await #expect(throws: ClientFailure.self) { try await endpoint.get("/healthz") }
            try await gate.open()
            try await holder.execute("SELECT pg_advisory_unlock_all()")
            await holder.close()
            for client in held {
                let answer = try await client.readResponse()
                #expect(answer.status == 201)
                #expect(!answer.keepsConnection)
            }
            #expect(try await daemon.waitForExit() == .exited(0))
            #expect(!daemon.output.contains("cut off"))

            // Every answered registration exists.
            var confirmed = 0
            for lane in load {
                let answers = await lane.value
                #expect(answers.allSatisfy { $0 == 201 })
                confirmed += answers.count
            }
            #expect(confirmed > 20)
            #expect(try await journey.count("schedule.task WHERE title = 'Load'") >= confirmed)
            #expect(try await journey.count("schedule.task WHERE title = 'Held'") == Self.heldRequests)
            // The reminders weren't delivered, so the next daemon sends them.
            #expect(try await journey.count("reminders.reminder WHERE state = 'pending'") == 2)
            let next = try await journey.daemon()
            for device in ["ada", "bob"] {
                #expect(try await next.reminders(of: device).nextReminder().roomId == room)
            }
            try await journey.expectDelivered(2)
        }
    }

    /// Registers one task after the other until no answer comes.
    private func answers(to name: String, at start: Instant, _ endpoint: ClientEndpoint) async -> [Int] {
        var statuses: [Int] = []
        while let client = try? await HTTPTestClient.connect(to: endpoint) {
            while true {
                let json = ClientEndpoint.task("\(name)-\(statuses.count)", start, "Load")
                guard let answer = try? await client.request("POST", "/task", json: json) else { break }
                statuses.append(answer.status)
                if !answer.keepsConnection { break }
            }
            await client.close()
        }
        return statuses
    }
}
