import Domain
import Features
import FoundationEssentials
import Observability
import Reminders
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Schedule

/// Rematches whose notification a daemon missed.
@Suite struct MissedRematchTests {
    @Test(
        "A rematch that was missed while disconnected is reported once"
    )
    func missed() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            var tasks: [String: TaskResponse] = [:]
            for device in ["ada", "bob", "cem", "dan"] {
                tasks[device] = try await database.register(device, "2026-11-22T09:00:00Z", "\(device)'s").task
            }
            try await database.setClock("2026-11-22 08:59:10Z")
            _ = try await database.reminders.claimDue(limit: 20)
            let peers = RoomReports(database)
            for device in ["ada", "cem"] {
                let task = try #require(tasks[device])
                try await peers.come(task.socketId, task.id)
            }
            try await database.setClock("2026-11-22 09:01:01Z")
            #expect(try await database.rematch() == 1)

            let cem = try #require(tasks["cem"])
            let rematches = EventRecorder<Rematch>()
            let missed = MissedRematches(
                store: database.rematches, log: Log(level: .error, format: nil), publish: { rematches.append($0) })
            await missed.listening()
            #expect(rematches.all.isEmpty)
            await missed.lost()
            await missed.listening()
            await missed.listening()
            #expect(Set(rematches.all.map(\.device.text)) == ["ada", "bob", "cem", "dan"] && rematches.all.count == 4)
            let ada = try #require(rematches.all.first { $0.device.text == "ada" })
            #expect(ada.from == tasks["ada"]?.socketId && ada.taskId == tasks["ada"]?.id && ada.partnerTask == "cem's")
            #expect(rematches.all.first { $0.device.text == "cem" }?.roomId == ada.roomId)
            let bob = try #require(rematches.all.first { $0.device.text == "bob" })
            #expect(bob.from == nil && bob.partnerTask == nil)

            // Ada's and Cem's match has ended, and they had newer notifications. So their rematch isn't reported again.
            try await database.setClock("2026-11-22 09:01:30Z")
            _ = try await database.leave("cem", cem.id)
            let recent = try await database.rematches.recent(within: .seconds(60))
            #expect(Set(recent.map(\.device.text)) == ["bob", "dan"])

            try await database.setClock("2026-11-22 09:05Z")
            #expect(try await database.rematches.recent(within: .seconds(60)).isEmpty)
            _ = try await database.erasures.erase(bob.device)
            #expect(try await database.rematches.recent(within: .seconds(600)).count == 1)
            try await database.setClock("2026-11-22 10:05Z")
            #expect(try await database.rematches.recent(within: .seconds(7200)).isEmpty)
        }
    }
}
