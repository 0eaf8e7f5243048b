import Domain
import Features
import Foundation
import JourneyTestSupport
import Postgres
import Reminders
import Rooms
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Notifications
@testable import Schedule

/// A daemon whose database role has settings that differ from PostgreSQL's defaults.
@Suite struct RoleSettingsTests {
    private static let settings = [
        "extra_float_digits = -10", "TimeZone = 'Asia/Kathmandu'", "DateStyle = 'German, DMY'",
        "IntervalStyle = 'sql_standard'", "bytea_output = 'escape'", "standard_conforming_strings = off",
        "timezone_abbreviations = 'India'", "session_replication_role = 'replica'", "lock_timeout = '1ms'",
        "search_path = ''",
    ]

    @Test("Instants are exact to the second, even if the role has its own settings")
    func seconds() async throws {
        try await Journey.run { journey in
            for setting in Self.settings {
                try await TestCluster.execute(
                    """
                    DO $do$ BEGIN
                        EXECUTE format('ALTER ROLE %I IN DATABASE %I SET ', current_user, current_database())
                            || $set$\(setting)$set$;
                    END $do$
                    """, journey.conninfo)
            }
            let endpoint = try await journey.daemon()
            let start = Instant(seconds: try await journey.instant(in: 7_200).seconds + 17)
            let own = try await endpoint.register("ada", start, zone: "Asia/Kolkata")
            let partner = try await endpoint.register("bob", start, "Maths", zone: "America/Vancouver")
            #expect(own.startsAt == Date(timeIntervalSince1970: Double(start.seconds)))
            #expect(partner.isPaired && partner.socketId == own.socketId)
            let early = try await endpoint.get(ClientEndpoint.room(own.socketId))
            #expect(try early.json()["opensAt"] == "\(Instant(seconds: start.seconds - 60))")

            let stream = try await endpoint.reminders(of: "ada")
            try await journey.advance(to: start, -61)
            #expect(try await endpoint.status(of: own.socketId) == 403)
            try await journey.advance(to: start, -60)
            let reminder = try await stream.nextReminder()
            #expect(reminder.startsAt == Date(timeIntervalSince1970: Double(start.seconds)))
            #expect(try await endpoint.status(of: own.socketId) == 101)
        }
    }

    @Test("Instants are exact in a session that cuts off digits of numbers with a fraction")
    func integers() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00:00.123456Z") { database in
            var configuration = database.configuration
            configuration.sessionSettings["extra_float_digits"] = "-10"
            let client = PostgresClient(configuration: configuration)
            let cut = PostgresStatement(name: "", sql: "SELECT 1795334400.123456::double precision AS cut")
            #expect(try await client.query(cut, [])[0].double("cut") == 1_795_300_000)

            let schedule = ScheduleStore(database: client, settings: ScheduleSettings(reminderLead: 60))
            func register(_ device: String, invites: Bool = false) async throws -> TaskResponse? {
                let request = try ScheduleDatabase.request(device, "2026-11-22T09:00:17Z", "History", zone: "UTC")
                return try await schedule.register(
                    TaskRequest(slot: request.slot, title: "History", invites: invites)
                ).task
            }
            let due = Instant(seconds: 1_795_337_957)
            let task = try #require(try await register("ada"))
            #expect(task.remindsAt == due)
            #expect(try await register("bob")?.isPaired == true)
            let invitation = try #require(try await register("eva", invites: true)?.invitation)
            #expect(try await InvitationStore(database: client).read(invitation).closesAt == due)
            let device = DeviceID(stored: "ada")
            let calendars = CalendarStore(database: client, storage: StorageQuota())
            let secret = try await calendars.secret(of: device, candidate: try .make())
            let entry = try #require(try await calendars.read(secret)?.entries.first)
            #expect(entry.remindsAt == due)
            #expect(entry.closesAt == Instant(seconds: 1_795_341_617))

            let reminders = ReminderStore(database: client)
            let next = try await reminders.nextDue()
            #expect(next.due == Double(due.seconds) && next.now == 1_795_334_400.123456)
            #expect(
                try await reminders.findRoom(task.socketId)
                    == .notOpen(opensAt: Double(due.seconds), now: 1_795_334_400.123456))

            let deliveries = DeliveryStore(database: client, others: client)
            _ = try await deliveries.start(.ntfy)
            try await AddressStore(database: client).register("topic", of: device, in: .ntfy, most: 1)
            try await database.setClock("2026-11-22 08:59:17.654321Z")
            let claim = try #require(try await reminders.claimDue(limit: 10))
            #expect(claim.reminders.allSatisfy { $0.due == Double(due.seconds) && $0.firedAt == 1_795_337_957.654321 })
            #expect(claim.rooms == [OpenRoom(id: task.socketId, closesAt: 1_795_341_617)])
            #expect(try await reminders.openRooms() == claim.rooms)
            #expect(try await deliveries.next(.ntfy, for: .reminders).urgent == 1_795_337_957.654321)
            let delivery = try #require(
                try await deliveries.lease(.ntfy, .reminders, limit: 1, for: .seconds(10)).deliveries.first)
            #expect(delivery.happenedAt == 1_795_337_957.654321 && delivery.deadline == 1_795_338_017)
            #expect(delivery.registeredAt == 1_795_334_400.123456)
            await client.shutdown()
        }
    }
}
