import Domain
import Features
import FoundationEssentials
import Postgres
import Reminders
import Schedule
import ScheduleTestSupport
import Testing

/// Titles that change at the last moment.
@Suite struct ScheduleRetitleTests {
    private let nine = "2026-11-22T09:00:00Z"

    private func retitle(_ device: String, _ title: String) -> String {
        """
        SELECT (schedule.register_task('\(device)', '\(title)', 'UTC', 1795338000, NULL, NULL, NULL, 60, 7776000, 3600)).code
        """
    }

    @Test("A title change answered with 200 is in the partner's reminder, however late it was")
    func beforeTheClaim() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:58:59.995Z") { database in
            for device in ["a", "b"] { _ = try await database.register(device, nine, "Old") }
            let session = try await PostgresSession.connect(database.configuration)
            try await session.execute("BEGIN")
            #expect(try await session.execute(retitle("a", "New"))?[0].string("code") == "retitled")
            // The title's transaction isn't committed when the lead begins.
            try await database.setClock("2026-11-22 08:59Z")
            let early = try await database.reminders.claimDue(limit: 10)
            #expect(early == nil)
            try await session.execute("COMMIT")
            let claim = try #require(try await database.reminders.claimDue(limit: 10))
            let reminder = claim.reminders.first { $0.device == DeviceID(stored: "b") }
            #expect(reminder?.payload.contains(#""partnerTask":"New""#) == true)
            await session.close()
        }
    }

    @Test("A title can't change after the partner was reminded of it")
    func afterTheClaim() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:58Z") { database in
            for device in ["a", "b"] { _ = try await database.register(device, nine, "Old") }
            // The task was registered at a daemon with a longer lead.
            try await database.run(
                """
                WITH task AS (
                    UPDATE schedule.task SET reminds_at = reminds_at - interval '1 minute' WHERE device_id = 'b'
                    RETURNING id, reminds_at
                ) UPDATE schedule.due SET reminds_at = task.reminds_at FROM task WHERE due.task_id = task.id
                """)
            let claim = try #require(try await database.reminders.claimDue(limit: 10))
            #expect(claim.reminders.map(\.device.text) == ["b"])
            #expect(try await database.register("a", nine, "New").refusal?.code == "registration_closed")
            // The same title again is no change.
            #expect(try await database.register("a", nine, "Old").task != nil)
        }
    }

    @Test("A title can change if the partner was erased")
    func erasedPartner() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            for device in ["a", "b"] { _ = try await database.register(device, nine, "Old") }
            _ = try await database.erasures.erase(DeviceID(stored: "b"))
            #expect(try await database.register("a", nine, "New").task?.title == "New")
        }
    }
}
