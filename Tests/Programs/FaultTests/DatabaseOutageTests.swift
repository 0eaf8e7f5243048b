import Domain
import Foundation
import JourneyTestSupport
import Schedule
import Settings
import TestSupport
import Testing

@Suite struct DatabaseOutageTests {
    /// Registers one task after the other until `stop` has an event. Returns the answers.
    private func load(
        _ endpoint: ClientEndpoint, _ name: String, _ start: Instant, until stop: EventRecorder<Void>
    ) async throws -> [(status: Int, retryAfter: String?)] {
        let client = try await HTTPTestClient.connect(to: endpoint)
        var answers: [(status: Int, retryAfter: String?)] = []
        while stop.all.isEmpty {
            let response = try await client.request(
                "POST", "/task", json: ClientEndpoint.task("\(name)-\(answers.count)", start, "Load"))
            answers.append((response.status, response.headers["Retry-After"]))
        }
        await client.close()
        return answers
    }

    @Test(
        "A database outage under load loses no reminder"
    )
    func outage() async throws {
        let cluster = try await TestCluster.dedicated()
        try await Journey.run(on: cluster, timeouts: .documented) { journey in
            let endpoint = try await journey.daemon { $0.schedule.reminderLead = .seconds(300) }
            let now = try await journey.instant(in: 0)
            let start = Instant(seconds: now.seconds + 3600)
            let room = try await endpoint.pair("ada", "bob", start)
            try await journey.advance(to: start, -300)
            let ada = try await endpoint.reminders(of: "ada")
            #expect(try await ada.nextReminder().roomId == room)
            let peers = [try await endpoint.enter(room), try await endpoint.enter(room)]

            // The task is due while the database is unavailable.
            let due = Instant(seconds: try await journey.instant(in: 302).seconds)
            let missed = try await endpoint.pair("ada", "cleo", due)
            let stop = EventRecorder<Void>()
            let far = Instant(seconds: start.seconds + 86_400)
            async let one = load(endpoint, "one", far, until: stop)
            async let other = load(endpoint, "other", far, until: stop)
            try await journey.wait(until: "(SELECT count(*) FROM schedule.task WHERE title = 'Load') > 10")
            try await journey.startClock()
            await cluster.stop()

            // All answers until the cluster starts come without the database.
            let refused = try await endpoint.post("/task", ClientEndpoint.task("dora", far, "History"))
            #expect(refused.status == 503 && refused.headers["Retry-After"] != nil)
            #expect(try refused.json()["code"] == "database_unavailable")
            #expect(try await endpoint.get("/readyz").status == 503)
            #expect(try await endpoint.get("/healthz").status == 200)
            #expect(try await endpoint.status(of: UUID()) == 503)
            #expect(try await endpoint.status(of: room) == 101)
            for (sender, receiver) in [(peers[0], peers[1]), (peers[1], peers[0])] {
                try await sender.send(text: RoomMessages.ale(room))
                #expect(try await receiver.nextMessage() == RoomMessages.cheer)
            }
            // The reminder becomes due meanwhile, on most machines. The clock that would report it is stopped.
            try await Task.sleep(for: .seconds(2))
            try await cluster.start()

            try await eventually("readiness") { try await endpoint.get("/readyz").status == 200 }
            #expect(try await endpoint.register("dora", far).title == "History")
            #expect(try await ada.nextReminder().roomId == missed)
            #expect(try await endpoint.status(of: missed) == 101)
            for peer in peers { try await peer.expectNothing() }

            stop.append(())
            let answers = try await one + other
            let refusals = answers.filter { $0.status == 503 }
            #expect(!refusals.isEmpty && refusals.allSatisfy { $0.retryAfter != nil })
            #expect(Set(answers.map(\.status)).isSubset(of: [201, 503]))
            #expect(answers.last?.status == 201)
            let stored = try await journey.count("schedule.task WHERE title = 'Load'")
            // A registration whose commit was cut off may exist though its answer was an error.
            let confirmed = answers.count { $0.status == 201 }
            #expect((confirmed...answers.count).contains(stored))
        }
        await cluster.stop()
    }

    @Test("A daemon starts without its database and works when it is up")
    func awayAtStart() async throws {
        let cluster = try await TestCluster.dedicated()
        try await Journey.run(on: cluster, timeouts: .documented) { journey in
            await cluster.stop()
            let (daemon, endpoint) = try await journey.process()
            #expect(try await endpoint.get("/healthz").status == 200)
            let ready = try await endpoint.get("/readyz")
            #expect(ready.status == 503 && ready.headers["Retry-After"] != nil)
            #expect(try await endpoint.post("/task", ["deviceId": "ada"]).status == 503)
            try await daemon.waitForLog("waiting for the database")
            try await cluster.start()
            try await eventually("readiness") { try await endpoint.get("/readyz").status == 200 }
            let start = try await journey.instant(in: 3600)
            try await endpoint.register("ada", start)
            let stream = try await endpoint.reminders(of: "ada")
            try await journey.advance(to: start, -60)
            #expect(try await stream.nextReminder().title == "History")
        }
        await cluster.stop()
    }
}
