import Domain
import Postgres
import Reminders
import ScheduleTestSupport
import Testing

@testable import Schedule

@Suite struct ScheduleRegistrationTests {
    @Test("A second task is matched with the first one")
    func pairing() async throws {
        try await ScheduleDatabase.with(now: "2026-11-21 12:00Z") { database in
            let first = try await database.register("a", "2026-11-22T09:00:00Z", "History", zone: "Europe/London")
            let own = try #require(first.task)
            #expect(first.isCreated)
            #expect(own.startTime == "09:00")
            #expect(own.remindsAt.description == "2026-11-22T08:59:00Z")
            #expect(!own.isPaired && own.partnerTitle == nil)
            #expect(first.change?.slotOpened == true)

            let second = try await database.register("b", "2026-11-22T09:00:00Z", "Maths", zone: "Asia/Kolkata")
            let other = try #require(second.task)
            #expect(other.startTime == "14:30")
            #expect(other.isPaired && other.partnerTitle == "History")
            #expect(other.socketId == own.socketId)
            #expect(second.change?.slotOpened == false)
            #expect(second.change?.devices.map(\.text) == ["b", "a"])

            let third = try await database.register("c", "2026-11-22T09:00:00Z")
            #expect(third.task?.isPaired == false)
            #expect(third.task?.socketId != own.socketId)

            let again = try await database.register("a", "2026-11-22T09:00:00Z", "History")
            guard case .repeated(let repeated) = again else {
                Issue.record("\(again)")
                return
            }
            #expect(repeated.id == own.id && repeated.timeZone == "Europe/London")
            #expect(repeated.partnerTitle == "Maths")
        }
    }

    @Test("Slots are exact seconds")
    func seconds() async throws {
        try await ScheduleDatabase.with(now: "2026-11-21 12:00Z") { database in
            _ = try await database.register("a", "2026-11-22T09:00:00Z")
            let other = try await database.register("b", "2026-11-22T09:00:30Z")
            #expect(other.task?.isPaired == false)
            #expect(other.task?.startTime == "09:00:30")
        }
    }

    @Test("Registration closes at startsAt minus the lead, by the database's clock")
    func lead() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:59:00.000001Z") { database in
            let late = try await database.register("a", "2026-11-22T09:00:00Z")
            #expect(late.refusal?.status == 409 && late.refusal?.code == "registration_closed")
            let past = try await database.register("a", "0001-01-01T00:00:00Z")
            #expect(past.refusal?.code == "registration_closed")
            try await database.setClock("2026-11-22 08:59:00Z")
            #expect(try await database.register("a", "2026-11-22T09:00:00Z").isCreated)
        }
    }

    @Test("A task is at most 90 days ahead")
    func horizon() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 09:00Z") { database in
            #expect(try await database.register("a", "2027-02-20T09:00:00Z").isCreated)
            for far in ["2027-02-20T09:00:01Z", "9999-12-31T23:59:59Z"] {
                let refusal = try await database.register("a", far).refusal
                #expect(refusal?.status == 400 && refusal?.code == "too_far_ahead")
            }
        }
    }

    @Test("A repeated registration is harmless until the start")
    func repeats() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let start = "2026-11-22T09:00:00Z"
            let first = try await database.register("a", start, "One")
            _ = try await database.register("b", start, "Other")
            let changed = try await database.register("a", start, "Two")
            guard case .retitled(let task, let change) = changed else {
                Issue.record("\(changed)")
                return
            }
            #expect(task.id == first.task?.id && task.title == "Two" && task.partnerTitle == "Other")
            #expect(change.slotOpened == nil && change.devices.map(\.text) == ["a", "b"])
            #expect(try await database.register("b", start, "Other").task?.partnerTitle == "Two")

            try await database.setClock("2026-11-22 08:59:30Z")
            #expect(try await database.register("a", start, "Two") == .repeated(task))
            #expect(try await database.register("a", start, "Three").refusal?.code == "registration_closed")
            try await database.setClock("2026-11-22 09:00Z")
            #expect(try await database.register("a", start, "Two").refusal?.code == "registration_closed")
        }
    }

    @Test("Cancelling a task without a partner is possible until closing")
    func cancelling() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let nine = "2026-11-22T09:00:00Z"
            #expect(try await database.cancel("a", nine).code == "no_such_task")
            let task = try #require(try await database.register("a", nine).task)
            #expect(
                try await database.schedule.cancel(.task(OwnTask(id: task.id, device: DeviceID(stored: "b")))).code
                    == "no_such_task")
            let cancelled = try await database.schedule.cancel(
                .task(OwnTask(id: task.id, device: DeviceID(stored: "a"))))
            #expect(cancelled.task == task)
            guard case .cancelled(_, let change) = cancelled else { return }
            #expect(change.slotOpened == false)

            let again = try #require(try await database.register("a", nine).task)
            #expect(again.id != task.id && again.socketId != task.socketId)
            _ = try await database.register("b", nine)
            #expect(try await database.cancel("a", nine).code == "has_partner")
            _ = try await database.register("c", nine)
            try await database.setClock("2026-11-22 08:59Z")
            #expect(try await database.reminders.claimDue(limit: 10)?.reminders.count == 3)
            #expect(try await database.cancel("c", nine).code == "registration_closed")
            #expect(try await database.cancel("a", nine).code == "has_partner")
        }
    }

    @Test("A reminded task never becomes a partner")
    func reminded() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z", lead: 600) { database in
            _ = try await database.register("a", "2026-11-22T09:00:00Z")
            // A daemon with a shorter lead.
            let short = ScheduleStore(database: database.client, settings: ScheduleSettings(reminderLead: 10))
            try await database.setClock("2026-11-22 08:50:01Z")
            let request = try ScheduleDatabase.request("b", "2026-11-22T09:00:00Z", "x", zone: "UTC")
            #expect(try await short.register(request).task?.isPaired == false)
            _ = try await database.reminders.claimDue(limit: 1)
            let third = try ScheduleDatabase.request("c", "2026-11-22T09:00:00Z", "x", zone: "UTC")
            #expect(try await short.register(third).task?.isPaired == true)
        }
    }

    @Test("A push token replaces the previous one")
    func push() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            try await database.addresses.registerToken("1234", of: "a")
            try await database.addresses.registerToken("abcd", of: "a", isSandbox: true)
            let row = try await database.run("SELECT * FROM core.address")[0]
            #expect(try row.string("address") == "abcd")
            #expect(try row.string("details") == #"{"sandbox":true}"#)
            #expect(try await database.count("core.address") == 1)
        }
    }
}
