import Domain
import Foundation
import JourneyTestSupport
import Settings
import TestSupport
import Testing

/// The database fails in several ways while rooms are open and a reminder becomes due.
@Suite struct DatabaseFaultTests {
    /// Returns the device's next two reminders, and when they came.
    private static func twoReminders(
        on stream: EventStreamTestClient
    ) async throws -> [(reminder: ReceivedReminder, at: Date)] {
        let first = try await stream.nextReminder()
        let at = Date()
        return [(first, at), (try await stream.nextReminder(), Date())]
    }

    private static func cheer(_ sender: WebSocketTestClient, _ receiver: WebSocketTestClient, in room: UUID)
        async throws
    {
        try await sender.send(text: RoomMessages.ale(room))
        #expect(try await receiver.nextMessage() == RoomMessages.cheer)
    }

    @Test(
        "While the database is unavailable, rooms work and requests get 503",
        arguments: DatabaseFault.allCases)
    func fault(_ fault: DatabaseFault) async throws {
        let cluster = try await fault.cluster()
        try await Journey.run(on: cluster, timeouts: .documented) { journey in
            let database = try await FaultyDatabase(fault, cluster, journey)
            do {
                try await run(fault, database, journey)
                await database.remove()
            } catch {
                await database.remove()
                throw error
            }
        }
    }

    private func run(_ fault: DatabaseFault, _ database: FaultyDatabase, _ journey: Journey) async throws {
        let endpoint = try await journey.daemon { $0.database = .url(database.conninfo) }
        let open = try await journey.instant(in: 3600)
        let room = try await endpoint.pair("ada", "bob", open)
        let ada = try await endpoint.reminders(of: "ada")
        try await journey.advance(to: open, -60)
        #expect(try await ada.nextReminder().roomId == room)
        let peers = [try await endpoint.enter(room), try await endpoint.enter(room)]

        // Due while the database is unavailable, and soon after its return.
        let during = try await journey.instant(in: 63)
        let after = Instant(seconds: during.seconds + 2)
        let rooms = [
            try await endpoint.pair("ada", "cleo", during), try await endpoint.pair("ada", "dan", after),
        ]
        let far = Instant(seconds: open.seconds + 86_400)
        let title = String(repeating: "y", count: 200)
        let request = ClientEndpoint.task("dora", far, title)
        async let reminders = Self.twoReminders(on: ada)

        try await journey.startClock()
        let shift = try await journey.shift()
        func due(_ start: Instant) -> Date { Date(timeIntervalSince1970: Double(start.seconds) - 60 - shift) }
        try await database.begin()
        if fault == .diskFull || fault == .fileLimit {
            // The daemon's connections may still have room on the pages that they wrote last, where no other connection
            // writes.
            var refusals = 0
            for number in 0..<1000 where refusals < 30 {
                let slot = Instant(seconds: far.seconds + 60 + number)
                let answer = try await endpoint.post("/task", ClientEndpoint.task("h\(number)", slot, title))
                refusals = [200, 201].contains(answer.status) ? 0 : refusals + 1
            }
        }
        // All answers until `database.end()` come although the database is still unavailable.
        var refused = try await endpoint.post("/task", request)
        // A session may learn of its server's new settings later than the one that looked.
        while fault == .readOnly, [200, 201].contains(refused.status) {
            refused = try await endpoint.post("/task", request)
        }
        #expect(
            refused.status == 503 && refused.headers["Retry-After"] != nil,
            "\(refused.status) \(String(decoding: refused.body, as: UTF8.self))")
        #expect(try refused.json()["code"] == "database_unavailable")
        try await Self.cheer(peers[0], peers[1], in: room)
        #expect(try await endpoint.get("/healthz").status == 200)
        if fault != .lockedTables {
            let ready = try await endpoint.get("/readyz")
            #expect(ready.status == 503 && ready.headers["Retry-After"] != nil)
        }
        #expect(try await endpoint.status(of: room) == 101)
        let isDue = due(during).timeIntervalSinceNow
        if isDue > -0.3 { try await Task.sleep(for: .seconds(isDue + 0.3)) }
        try await Self.cheer(peers[1], peers[0], in: room)

        try await database.end()
        var answer = 503
        try await eventually("an answer by the database") {
            answer = try await endpoint.post("/task", request).status
            return answer != 503
        }
        #expect([200, 201].contains(answer))
        try await eventually("readiness") { try await endpoint.get("/readyz").status == 200 }
        let received = try await reminders
        // One that was claimed as the database went, and whose answer got lost, may come behind the one that was claimed after.
        #expect(Set(received.map(\.reminder.roomId)) == Set(rooms))
        for (reminder, at) in received {
            let start = reminder.roomId == rooms[0] ? during : after
            #expect(at >= due(start))
        }

        try await Self.cheer(peers[0], peers[1], in: room)
        for peer in peers { try await peer.expectNothing() }
        #expect(try await journey.count("schedule.task WHERE device_id = 'dora'") == 1)
        // There is one reminder for each task, and no second one is sent.
        #expect(try await journey.count("reminders.reminder") == 6)
        try await endpoint.expectNoReminder(on: ada, of: "ada", in: journey)
    }
}
