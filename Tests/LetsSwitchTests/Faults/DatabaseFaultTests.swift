import Domain
import Foundation
import TestSupport
import Testing

@testable import LetsSwitch

/// The database is away, in one way or another, while rooms are open and a reminder falls due.
@Suite struct DatabaseFaultTests {
    /// What the contract allows.
    private static let refusalBound = TimeAllowance.bound(.seconds(2))
    private static let returnBound = TimeAllowance.bound(.seconds(5))
    private static let latenessBound = TimeAllowance.bound(.seconds(2))

    /// The device's next two reminders, and when they came.
    private static func twoReminders(
        on stream: EventStreamTestClient
    ) async throws -> [(reminder: ReceivedReminder, at: Date)] {
        let first = try await stream.nextReminder()
        let at = Date()
        return [(first, at), (try await stream.nextReminder(), Date())]
    }

    private static func cheer(_ speaker: WebSocketTestClient, _ listener: WebSocketTestClient, in room: UUID)
        async throws
    {
        try await speaker.send(text: RoomWords.ale(room))
        #expect(try await listener.nextMessage(within: TimeAllowance.bound(.seconds(1))) == RoomWords.cheer)
    }

    @Test(
        "503 within 2 s, rooms don't notice; back by itself within 5 s, reminders 2 s late at most, none lost or twice",
        arguments: DatabaseFault.allCases)
    func fault(_ fault: DatabaseFault) async throws {
        let cluster = try await fault.cluster()
        try await Journey.run(on: cluster) { journey in
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

        // Due while the database is away, and soon after its return.
        let during = try await journey.instant(in: 62 + TimeAllowance.factor)
        let after = Instant(seconds: during.seconds + 2)
        let shift = try await journey.shift()
        func due(_ start: Instant) -> Date { Date(timeIntervalSince1970: Double(start.seconds) - 60 - shift) }
        let rooms = [
            try await endpoint.pair("ada", "cleo", during), try await endpoint.pair("ada", "dan", after),
        ]
        let far = Instant(seconds: open.seconds + 86_400)
        let wish = ClientEndpoint.task("dora", far, String(repeating: "y", count: 200))
        async let reminders = Self.twoReminders(on: ada)

        try await database.begin()
        // A session may be told of its server's new settings later than the one that looked: what it still takes is no refusal.
        var gone = ContinuousClock.now
        var refused = try await endpoint.post("/task", wish)
        while fault == .readOnly, [200, 201].contains(refused.status) {
            gone = ContinuousClock.now
            refused = try await endpoint.post("/task", wish)
        }
        let refusal = ContinuousClock.now - gone
        #expect(refused.status == 503 && refused.headers["Retry-After"] != nil)
        #expect(try refused.json()["code"] == "database_unavailable")
        #expect(refusal <= Self.refusalBound)
        try await Self.cheer(peers[0], peers[1], in: room)
        let asked = ContinuousClock.now
        #expect(try await endpoint.get("/healthz").status == 200)
        #expect(ContinuousClock.now - asked <= TimeAllowance.bound(.milliseconds(500)))
        if fault != .lockedTables {
            let ready = try await endpoint.get("/readyz")
            #expect(ready.status == 503 && ready.headers["Retry-After"] != nil)
            #expect(ContinuousClock.now - asked <= TimeAllowance.bound(.milliseconds(2500)))
        }
        #expect(try await endpoint.status(of: room) == 101)
        let isDue = due(during).timeIntervalSinceNow
        if isDue > -0.3 { try await Task.sleep(for: .seconds(isDue + 0.3)) }
        try await Self.cheer(peers[1], peers[0], in: room)

        try await database.end()
        let back = (instant: ContinuousClock.now, date: Date())
        var answer = try await endpoint.post("/task", wish)
        while answer.status == 503 { answer = try await endpoint.post("/task", wish) }
        let returned = ContinuousClock.now - back.instant
        #expect([200, 201].contains(answer.status))
        #expect(returned <= Self.returnBound)
        while try await endpoint.get("/readyz").status != 200 {
            try await Task.sleep(for: .milliseconds(20))
            try #require(ContinuousClock.now - back.instant <= Self.returnBound)
        }
        let received = try await reminders
        #expect(received.map(\.reminder.roomId) == rooms)
        for ((_, at), start) in zip(received, [during, after]) {
            #expect(at >= due(start))
            #expect(.seconds(at.timeIntervalSince(max(due(start), back.date))) <= Self.latenessBound)
        }

        try await Self.cheer(peers[0], peers[1], in: room)
        for peer in peers { try await peer.expectSilence() }
        #expect(try await journey.count("letsswitch.task WHERE device_id = 'dora'") == 1)
        // One for each task, and what comes next is what happens next.
        #expect(try await journey.count("letsswitch.reminder") == 6)
        try await endpoint.expectNoReminder(on: ada, of: "ada", in: journey)
    }
}
