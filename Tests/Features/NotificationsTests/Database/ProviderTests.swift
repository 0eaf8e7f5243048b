import Domain
import Features
import Postgres
import Reminders
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Notifications

/// Providers in the database.
@Suite struct ProviderTests {
    private static let before = "2026-11-22T08:00:00Z"
    private let ada = DeviceID(stored: "ada")

    @Test(
        "A claim writes deliveries only for served providers")
    func turnedAway() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.addresses.register("t", of: ada, in: .ntfy, most: 1)
            let start = try await database.deliveries.start(.ntfy)
            func remind(_ minute: Int) async throws -> Int {
                _ = try await database.register("ada", "2026-11-22T09:\(minute):00Z")
                try await database.setClock("2026-11-22T09:\(minute - 1):00Z")
                _ = try #require(try await database.reminders.claimDue(limit: 10))
                return try await database.lease(.ntfy).deliveries.count
            }
            #expect(try await remind(20) == 1)
            #expect(try await database.deliveries.storeRefusal(.ntfy, start: start))
            #expect(try await remind(25) == 0)
            #expect(try await database.deliveries.start(.ntfy) > start)
            #expect(try await remind(30) == 1)
            // A daemon that started earlier may have other settings, so it can't turn the provider off.
            #expect(try await !database.deliveries.storeRefusal(.ntfy, start: start))
            #expect(try await database.deliveries.clear(.ntfy, limit: 100) == 0)
            #expect(try await remind(35) == 1)
        }
    }

    @Test("A provider that no daemon has served for a day is removed")
    func purged() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.serve([.ntfy, .webhook])
            try await database.setClock("2026-11-23T07:59:00Z")
            _ = try await database.lease(.ntfy)
            try await database.deleteOld(retention: 86_400)
            #expect(try await database.count("core.provider") == 2)
            try await database.setClock("2026-11-23T08:01:00Z")
            try await database.deleteOld(retention: 86_400)
            #expect(try await database.count("core.provider WHERE name = 'ntfy'") == 1)
            #expect(try await database.count("core.provider") == 1)
            // The provider's daemon was absent for a day, and leases again.
            _ = try await database.lease(.webhook)
            #expect(try await database.count("core.provider") == 2)
        }
    }

    @Test("An address registered between claim and start receives the reminder once")
    func late() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let claim = try await database.claimMatch(for: [.ntfy])
            #expect(try await database.count("core.delivery") == 0)
            try await database.setClock("2026-11-22T08:59:30Z")
            try await database.addresses.register("t", of: ada, in: .ntfy, most: 1)
            let late = try #require(try await database.lease(.ntfy).deliveries.first)
            #expect(late.reminderId == claim.reminders.first { $0.device == ada }?.id)
            #expect(late.timeLeft == 30)
            try await database.addresses.register("t", of: ada, in: .ntfy, most: 1)
            #expect(try await database.count("core.delivery") == 1)
            // No daemon serves this provider.
            try await database.addresses.register("beef", of: ada, in: .apns, most: 1)
            #expect(try await database.count("core.delivery") == 1)
            // The new address hasn't received anything. The remaining deliveries of the old address are deleted with
            // it.
            try await database.addresses.register("t2", of: ada, in: .ntfy, most: 1)
            #expect(try await database.lease(.ntfy).deliveries.map(\.address) == ["t2"])
            try await database.setClock("2026-11-22T09:00:00Z")
            try await database.addresses.register("t3", of: ada, in: .ntfy, most: 1)
            #expect(try await database.count("core.delivery") == 2)
        }
    }

    @Test("An address registered during a claim receives the reminder")
    func meanwhile() async throws {
        try await ScheduleDatabase.with(now: Self.before, connections: 4) { database in
            try await database.serve([.ntfy])
            _ = try await database.register("ada", "2026-11-22T09:00:00Z")
            try await database.setClock("2026-11-22T08:59:00Z")
            let claim = try await PostgresSession.connect(database.configuration)
            try await claim.execute("BEGIN")
            try await claim.execute("SELECT * FROM reminders.claim_due(10)")
            async let registered: Void = database.addresses.register("t", of: ada, in: .ntfy, most: 1)
            try await eventually("the address waits") {
                // The pool isn't used, because this query could wait there behind the blocked registration.
                try await claim.execute(
                    """
                    SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    """)?[0].integer("n") == 1
            }
            try await claim.execute("COMMIT")
            try await registered
            await claim.close()
            #expect(try await database.lease(.ntfy).deliveries.count == 1)
        }
    }
}
