import Domain
import Foundation
import JourneyTestSupport
import ScheduleTestSupport
import Settings
import TestSupport
import Testing

@testable import Schedule

/// The database runs, but the daemon's connections to it are lost.
@Suite struct LostConnectionsTests {
    @Test("After the loss of all database connections, everything works at once")
    func terminated() async throws {
        try await Journey.run(timeouts: .documented) { journey in
            let endpoint = try await journey.daemon { $0.database = .url(journey.faultyConninfo) }
            let open = try await journey.instant(in: 3600)
            let room = try await endpoint.pair("ada", "bob", open)
            try await journey.advance(to: open, -60)
            let stream = try await endpoint.reminders(of: "ada")
            #expect(try await stream.nextReminder().roomId == room)
            let peers = [try await endpoint.enter(room), try await endpoint.enter(room)]
            let own = try await journey.instant(in: 600)
            try await endpoint.register("ada", own, "Own")

            // One for requests, the scheduler's, LISTEN's at least.
            #expect(try await journey.terminateConnections() >= 3)
            // By another daemon, so that only LISTEN can report it.
            let store = ScheduleStore(database: journey.client, settings: ScheduleSettings(reminderLead: 60))
            let other = try ScheduleDatabase.request("cleo", "\(own)", "Other", zone: "UTC")
            #expect(try await store.register(other).task?.isPaired == true)
            let sooner = Instant(seconds: own.seconds - 2)
            let request = try ScheduleDatabase.request("ada", "\(sooner)", "Sooner", zone: "UTC")
            #expect(try await store.register(request).isCreated)

            try await peers[0].send(text: RoomMessages.ale(room))
            #expect(try await peers[1].nextMessage() == RoomMessages.cheer)
            let task = ClientEndpoint.task("dora", Instant(seconds: open.seconds + 3600), "T")
            try await eventually("a registration") { try await endpoint.post("/task", task).status != 503 }
            // The clock stands still: nothing but a notification makes the scheduler look.
            try await journey.advance(to: sooner, -60)
            #expect(try await stream.nextReminder().title == "Sooner")
            try await journey.advance(to: own, -60)
            #expect(try await stream.nextReminder().partnerTask == "Other")
            for peer in peers { try await peer.expectNothing() }
            try await endpoint.expectNoReminder(on: stream, of: "ada", in: journey)
        }
    }

    @Test(
        "A daemon starts with a database that doesn't answer yet"
    )
    func silentAtStart() async throws {
        try await Journey.run(timeouts: .documented) { journey in
            let (relay, conninfo) = try journey.relay()
            relay.stall()
            let endpoint = try await journey.daemon { $0.database = .url(conninfo) }
            #expect(try await endpoint.get("/healthz").status == 200)
            #expect(try await endpoint.get("/readyz").status == 503)
            let start = try await journey.instant(in: 3600)
            #expect(try await endpoint.post("/task", ClientEndpoint.task("ada", start, "T")).status == 503)
            relay.resume()
            try await eventually("a task taken") {
                try await endpoint.post("/task", ClientEndpoint.task("ada", start, "T")).status != 503
            }
            // The answer before is believed for a second.
            try await eventually("readiness") { try await endpoint.get("/readyz").status != 503 }
            relay.close()
        }
    }
}
