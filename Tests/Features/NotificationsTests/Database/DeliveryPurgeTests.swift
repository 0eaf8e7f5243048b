import Domain
import Features
import Postgres
import ScheduleTestSupport
import Testing

@testable import Notifications

/// Deliveries that are deleted, and deliveries that are kept.
@Suite struct DeliveryPurgeTests {
    private static let before = "2026-11-22T08:00:00Z"

    @Test("The purge deletes unserved and old deliveries")
    func purge() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.addresses.register("t-ada", of: DeviceID(stored: "ada"), in: .ntfy, most: 1)
            _ = try await database.claimMatch(for: [.ntfy, .webhook])
            try await database.setClock("2026-11-22T09:30:00Z")
            try await database.deleteOld(retention: 86_400)
            #expect(try await database.count("core.delivery WHERE channel = 'ntfy'") == 1)
            try await database.setClock("2026-11-22T10:30:00Z")
            #expect(try await database.deleteOld(retention: 86_400) == 3)
            #expect(try await database.count("core.delivery WHERE channel = 'ntfy'") == 0)
            try await database.setClock("2026-11-24T12:00:00Z")
            try await database.deleteOld(retention: 30 * 86_400)
            #expect(try await database.count("core.delivery") == 0)
            #expect(try await database.count("core.event") == 0)
        }
    }

    @Test("The purge doesn't read a day's unserved events before their time is over")
    func unserved() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.writeEvents(0..<1000)
            for time in ["2026-11-22T09:30:00Z", "2026-11-23T08:09:59Z"] {
                try await database.setClock(time)
                let visits = try await database.visits("core.delete_old_deliveries(10)")
                #expect(visits.allSatisfy { $0 < 100 }, "\(time): \(visits)")
            }
            #expect(try await database.count("core.delivery") == 1000)
            try await database.setClock("2026-11-23T08:10:01Z")
            let taken = try await database.run("SELECT core.delete_old_deliveries(600) AS n")[0].integer("n")
            #expect(taken == 600)
            #expect(try await database.count("core.delivery") == 400)
        }
    }

    @Test("The oldest deliveries are dropped if too many wait")
    func dropped() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.writeEvents(0..<30)
            #expect(try await database.deliveries.drop(.webhook, keep: 20, limit: 4) == 4)
            #expect(try await database.deliveries.drop(.webhook, keep: 20, limit: 100) == 6)
            #expect(try await database.deliveries.drop(.webhook, keep: 20, limit: 100) == 0)
            #expect(try await database.lease(.webhook, limit: 1).deliveries.first?.title == "10")
        }
    }

    @Test("Reminders are neither dropped nor counted, however many deliveries wait", arguments: [true, false])
    func reminders(areOlder: Bool) async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            if !areOlder { try await database.writeEvents(0..<30) }
            // Five events, and two reminders.
            _ = try await database.claimMatch(for: [.webhook])
            if areOlder { try await database.writeEvents(0..<30) }
            #expect(try await database.count("core.delivery WHERE urgent") == 2)
            #expect(try await database.deliveries.drop(.webhook, keep: 20, limit: 100) == 15)
            #expect(try await database.count("core.delivery WHERE urgent") == 2)
            #expect(try await database.count("core.delivery WHERE NOT urgent") == 20)
        }
    }
}
