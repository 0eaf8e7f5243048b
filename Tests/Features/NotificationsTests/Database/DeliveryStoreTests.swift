import Domain
import Features
import FoundationEssentials
import Postgres
import Reminders
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Notifications
@testable import Schedule

/// Deliveries in the database.
@Suite struct DeliveryStoreTests {
    private static let before = "2026-11-22T08:00:00Z"

    private func device(_ name: String) -> DeviceID { DeviceID(stored: name) }

    private func settled(_ delivery: Delivery, _ decision: RetryDecision) -> FinishedDelivery {
        FinishedDelivery(id: delivery.id, attempt: delivery.attempt, decision: decision)
    }

    @Test("A claim writes one delivery for each reminder, address and provider in use")
    func claimWrites() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.addresses.register("t-ada", of: device("ada"), in: .ntfy, most: 1)
            try await database.addresses.register("one", of: device("bob"), in: .webPush, most: 10)
            try await database.addresses.register("two", of: device("bob"), in: .webPush, most: 10)
            try await database.addresses.register("beef", of: device("bob"), in: .apns, most: 1)
            let claim = try await database.claimMatch(for: [.ntfy, .webPush])
            #expect(claim.reminders.count == 2)
            #expect(try await database.count("core.delivery") == 3)
            let ntfy = try #require(try await database.lease(.ntfy).deliveries.first)
            let reminder = try #require(claim.reminders.first { $0.device == device("ada") })
            #expect(ntfy.reminderId == reminder.id)
            #expect(ntfy.messageId == reminder.id)
            #expect(ntfy.payload == reminder.payload)
            #expect(ntfy.address == "t-ada")
            #expect(ntfy.title == "ada's title")
            #expect(ntfy.partnerTask == "bob's title")
            #expect(ntfy.startTime == "09:00")
            #expect(ntfy.startsAt == reminder.startsAt)
            #expect(ntfy.roomId == reminder.roomId)
            #expect(ntfy.timeLeft == 60)
            #expect(ntfy.attempt == 1)
            #expect(Set(try await database.lease(.webPush).deliveries.map(\.address)) == ["one", "two"])
            #expect(try await database.lease(.apns).count == 0)
        }
    }

    @Test("Without providers a claim writes nothing")
    func nothing() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.addresses.register("t-ada", of: device("ada"), in: .ntfy, most: 1)
            _ = try await database.claimMatch(for: [])
            #expect(try await database.count("core.delivery") == 0)
            #expect(try await database.count("core.event") == 0)
        }
    }

    @Test("A delivery that can't be written delays neither other deliveries nor reminders")
    func poison() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.addresses.register("good", of: device("ada"), in: .ntfy, most: 1)
            try await database.addresses.register("bad", of: device("bob"), in: .ntfy, most: 1)
            try await database.run(
                """
                CREATE FUNCTION letsswitch.spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF (SELECT address FROM core.address WHERE id = NEW.address_id) = 'bad' THEN
                        RAISE 'spoilt';
                    END IF;
                    RETURN NEW;
                END $$
                """)
            try await database.run(
                "CREATE TRIGGER spoil BEFORE INSERT ON core.delivery FOR EACH ROW EXECUTE FUNCTION letsswitch.spoil()"
            )
            let claim = try await database.claimMatch(for: [.ntfy])
            #expect(claim.reminders.count == 2)
            #expect(try await database.lease(.ntfy).deliveries.map(\.address) == ["good"])
        }
    }

    @Test("A task that is claimed separately has its deliveries too")
    func alone() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.addresses.register("t-ada", of: device("ada"), in: .ntfy, most: 1)
            try await database.serve([.ntfy])
            _ = try await database.schedule.register(
                try ScheduleDatabase.request("ada", "2026-11-22T09:00:00Z", "History", zone: "UTC"))
            try await database.setClock("2026-11-22T08:59:00Z")
            let claim = try #require(try await database.reminders.claimEach(limit: 10))
            #expect(try await database.lease(.ntfy).deliveries.map(\.reminderId) == claim.reminders.map(\.id))
        }
    }

    @Test("A match whose tasks are claimed one after the other opens its room once")
    func opensOnce() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.serve([.webhook])
            for device in ["ada", "bob"] {
                _ = try await database.schedule.register(
                    try ScheduleDatabase.request(device, "2026-11-22T09:00:00Z", "History", zone: "UTC"))
            }
            try await database.setClock("2026-11-22T08:59:00Z")
            for _ in 0..<2 { _ = try #require(try await database.reminders.claimDue(limit: 1)) }
            let events = try await database.lease(.webhook).deliveries.map(\.event)
            #expect(events.filter { $0 == "room.opened" }.count == 1)
            #expect(events.filter { $0 == "reminder" }.count == 2)
            #expect(try await database.count("core.event WHERE type = 'room.closed' AND number IS NULL") == 1)
        }
    }

    @Test("A leased delivery belongs to one daemon until the lease ends")
    func leases() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.addresses.register("t-ada", of: device("ada"), in: .ntfy, most: 1)
            _ = try await database.claimMatch(for: [.ntfy])
            let first = try #require(try await database.lease(.ntfy).deliveries.first)
            #expect(try await database.lease(.ntfy).count == 0)
            try await database.setClock("2026-11-22T08:59:09Z")
            #expect(try await database.lease(.ntfy).count == 0)
            #expect(try await database.deliveries.renew([first], for: .seconds(10)) == [first.id])
            try await database.setClock("2026-11-22T08:59:18Z")
            #expect(try await database.lease(.ntfy).count == 0)
            try await database.setClock("2026-11-22T08:59:19Z")
            let second = try #require(try await database.lease(.ntfy).deliveries.first)
            #expect(second.messageId == first.messageId)
            #expect(second.attempt == 2)
            // The first worker's lease has expired, so its result has no effect, unless the delivery was accepted.
            _ = try await database.deliveries.finish([settled(first, .again(after: .seconds(30), counts: true))])
            #expect(try await database.deliveries.renew([first], for: .seconds(1000)) == [])
            try await database.setClock("2026-11-22T08:59:29Z")
            #expect(try await database.lease(.ntfy).count == 1)
            #expect(try await database.deliveries.finish([settled(first, .accepted)]) == [first.reminderId])
            #expect(try await database.count("core.delivery") == 0)
        }
    }

    @Test("Two daemons that lease at once share the work")
    func sharing() async throws {
        try await ScheduleDatabase.with(now: Self.before, connections: 8) { database in
            for index in 0..<40 {
                try await database.addresses.register("s\(index)", of: device("ada"), in: .webPush, most: 100)
            }
            _ = try await database.claimMatch(for: [.webPush])
            let ids = try await withThrowingTaskGroup(of: [Int].self) { group in
                for _ in 0..<8 {
                    group.addTask { try await database.lease(.webPush, limit: 5).deliveries.map(\.id) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(Set(ids).count == ids.count)
            #expect(ids.count + (try await database.lease(.webPush).count) == 40)
        }
    }

    @Test("A reminder counts as delivered once, when the first provider took it")
    func delivered() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.addresses.register("t-ada", of: device("ada"), in: .ntfy, most: 1)
            try await database.addresses.register("s", of: device("ada"), in: .webPush, most: 10)
            _ = try await database.claimMatch(for: [.ntfy, .webPush])
            let ntfy = try #require(try await database.lease(.ntfy).deliveries.first)
            let push = try #require(try await database.lease(.webPush).deliveries.first)
            #expect(try await database.deliveries.finish([settled(push, .dropped(.refused))]) == [])
            #expect(try await database.deliveries.finish([settled(ntfy, .accepted)]) == [ntfy.reminderId])
            #expect(try await database.deliveries.finish([settled(ntfy, .accepted)]) == [])
            let states = try await database.run("SELECT state FROM reminders.reminder ORDER BY state")
            #expect(try states.map { try $0.string("state") } == ["delivered", "pending"])
        }
    }

    @Test("An attempt that failed because of the provider doesn't count")
    func again() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.addresses.register("t-ada", of: device("ada"), in: .ntfy, most: 1)
            _ = try await database.claimMatch(for: [.ntfy])
            let first = try #require(try await database.lease(.ntfy).deliveries.first)
            _ = try await database.deliveries.finish([settled(first, .again(after: .seconds(5), counts: false))])
            let next = try await database.deliveries.next(.ntfy, for: .reminders)
            #expect(next.urgent.map { $0 - next.now } == 5)
            #expect(next.waiting == 1)
            try await database.setClock("2026-11-22T08:59:05Z")
            let second = try #require(try await database.lease(.ntfy).deliveries.first)
            #expect(second.attempt == 1)
            _ = try await database.deliveries.finish([settled(second, .again(after: .zero, counts: true))])
            #expect(try await database.lease(.ntfy).deliveries.first?.attempt == 2)
        }
    }

    @Test("A lost address is removed unless it was registered again since")
    func gone() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.addresses.register("old", of: device("ada"), in: .webPush, most: 10)
            try await database.addresses.register("back", of: device("ada"), in: .webPush, most: 10)
            _ = try await database.claimMatch(for: [.webPush])
            try await database.setClock("2026-11-22T08:59:01Z")
            try await database.addresses.register("back", of: device("ada"), in: .webPush, most: 10)
            let leased = try await database.lease(.webPush).deliveries
            #expect(leased.count == 2)
            _ = try await database.deliveries.finish(leased.map { settled($0, .gone) })
            #expect(try await database.addresses.addresses(of: device("ada"), in: .webPush) == ["back"])
            #expect(try await database.count("core.delivery") == 0)
        }
    }

    @Test("No delivery is sent after the start")
    func deadline() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.addresses.register("t-ada", of: device("ada"), in: .ntfy, most: 1)
            _ = try await database.claimMatch(for: [.ntfy])
            try await database.setClock("2026-11-22T09:00:00Z")
            let leased = try await database.lease(.ntfy)
            #expect(leased.deliveries.isEmpty)
            #expect(leased.expired == 1)
            #expect(try await database.count("core.delivery") == 0)
        }
    }

    @Test("An erased device has no addresses, and receives none of its waiting deliveries")
    func erased() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.addresses.register("t-ada", of: device("ada"), in: .ntfy, most: 1)
            try await database.addresses.register("t-bob", of: device("bob"), in: .ntfy, most: 1)
            _ = try await database.claimMatch(for: [.ntfy, .webhook])
            _ = try await database.erasures.erase(device("ada"))
            #expect(try await database.count("core.address") == 1)
            let leased = try await database.lease(.ntfy)
            #expect(leased.deliveries.map(\.address) == ["t-bob"])
            #expect(leased.deliveries.first?.partnerTask == nil)
            #expect(leased.orphans.count == 1)
            let remaining = try await database.lease(.webhook)
            #expect(!remaining.deliveries.contains { $0.payload.contains("ada's title") })
            #expect(remaining.deliveries.filter { $0.event == "reminder" }.count == 1)
        }
    }

    @Test("An erasure removes only the erased device from waiting events")
    func erasedAfterCancelling() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.serve([.webhook])
            for device in ["ada", "bob"] {
                let start = device == "ada" ? "2026-11-22T09:00:00Z" : "2026-11-22T10:00:00Z"
                _ = try await database.schedule.register(
                    try ScheduleDatabase.request(device, start, "\(device)'s title", zone: "UTC"))
            }
            let task = try ScheduleDatabase.request("ada", "2026-11-22T09:00:00Z", "", zone: "UTC").slot
            #expect(try await database.schedule.cancel(.slot(task)).code == "cancelled")
            _ = try await database.erasures.erase(device("ada"))
            let remaining = try await database.lease(.webhook).deliveries
            #expect(
                remaining.map(\.event) == ["task.registered", "task.registered", "task.cancelled", "device.erased"])
            #expect(remaining.map(\.title) == [nil, "bob's title", nil, nil])
            #expect(!remaining.contains { $0.payload.namesAda })
        }
    }

    @Test("Reminders and other deliveries are leased with separate limits and due times")
    func kinds() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.writeEvents(0..<20)
            _ = try await database.claimMatch(for: [.webhook])
            let next = try await database.deliveries.next(.webhook, for: .others)
            #expect(next.due(.others) == next.now - 3540)
            #expect(next.due(.reminders) == next.now)
            let urgent = try await database.lease(.webhook, limit: 5, others: 0).deliveries
            #expect(urgent.map(\.event) == [Delivery.reminder, Delivery.reminder])
            let others = try await database.lease(.webhook, limit: 0, others: 5).deliveries
            #expect(others.filter(\.isUrgent).isEmpty)
            #expect(others.count == 5)
        }
    }

    @Test("An event is tried for a day and ten minutes")
    func patience() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.writeEvents([1])
            #expect(try await database.lease(.webhook).deliveries.first?.timeLeft == 87_000)
        }
    }

    @Test("An address belongs to the device that registered it last")
    func moved() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.addresses.register("beef", of: device("ada"), in: .apns, most: 1)
            _ = try await database.claimMatch(for: [.apns])
            try await database.addresses.register("beef", of: device("carl"), in: .apns, most: 1)
            #expect(try await database.lease(.apns).orphans.count == 1)
            #expect(try await database.addresses.addresses(of: device("carl"), in: .apns) == ["beef"])
        }
    }

    @Test("A device that exceeds its number of addresses loses the oldest")
    func most() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            for index in 0..<12 {
                try await database.setClock("2026-11-22T08:00:\(10 + index)Z")
                try await database.addresses.register("s\(index)", of: device("ada"), in: .webPush, most: 10)
            }
            #expect(
                try await database.addresses.addresses(of: device("ada"), in: .webPush) == (2..<12).map { "s\($0)" })
            try await database.addresses.remove("s5", of: device("ada"), in: .webPush)
            try await database.addresses.remove("s6", of: device("bob"), in: .webPush)
            #expect(try await database.count("core.address") == 9)
        }
    }

    @Test("All daemons share the secret that the first one stored")
    func secrets() async throws {
        try await ScheduleDatabase.with(now: nil, connections: 8) { database in
            let values = try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for index in 0..<8 {
                    group.addTask {
                        try await database.addresses.secret(
                            "key", candidate: [UInt8](repeating: UInt8(index), count: 32))
                    }
                }
                return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
            }
            #expect(values.count == 1)
            #expect(values.first?.count == 32)
        }
    }
}
