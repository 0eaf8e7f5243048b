import Postgres
import ScheduleTestSupport
import Testing

/// Checks of what must be true in the database when no statement is running.
extension ScheduleDatabase {
    /// Checks ``checkMatches()``, and that each slot has at most one task without a partner. Tasks that wait for guests
    /// don't count.
    func checkPairs() async throws {
        try await checkMatches()
        let crowded = try await run(
            """
            SELECT count(*) AS n FROM (
                SELECT starts_at FROM schedule.task WHERE partner_id IS NULL AND invites_until IS NULL
                GROUP BY 1 HAVING count(*) > 1) AS slot
            """)
        #expect(try crowded[0].integer("n") == 0)
    }

    /// Checks that every match has two tasks of two devices in one room, and that partners refer to each other. After
    /// the lead several users may wait in a slot.
    func checkMatches() async throws {
        let broken = try await run(
            """
            SELECT count(*) AS n FROM schedule.task
            LEFT JOIN schedule.task AS partner ON partner.id = task.partner_id
            WHERE task.partner_id IS NOT NULL AND (
                partner.id IS NULL OR partner.partner_id IS DISTINCT FROM task.id OR partner.device_id = task.device_id
                OR partner.room_id <> task.room_id OR partner.starts_at <> task.starts_at
                OR partner.closes_at <> task.closes_at)
            """)
        #expect(try broken[0].integer("n") == 0)
        let rooms = try await run(
            """
            SELECT count(*) AS n FROM (
                SELECT room_id FROM schedule.task
                GROUP BY 1 HAVING count(*) <> 1 + count(partner_id) / 2 OR count(partner_id) = 1) AS room
            """)
        #expect(try rooms[0].integer("n") == 0)
        try await checkStages()
    }

    /// Checks that every task either waits or has one reminder.
    func checkStages() async throws {
        let either = try await run(
            """
            SELECT count(*) AS n FROM schedule.task
            FULL JOIN (
                SELECT task_id, starts_at, reminds_at FROM schedule.due UNION ALL
                SELECT task_id, starts_at, NULL FROM reminders.reminder) AS stage ON stage.task_id = task.id
            WHERE task.starts_at IS DISTINCT FROM stage.starts_at
                OR task.reminds_at <> stage.reminds_at
                OR (SELECT count(*) FROM schedule.due WHERE due.task_id = task.id)
                    + (SELECT count(*) FROM reminders.reminder WHERE reminder.task_id = task.id) <> 1
            """)
        #expect(try either[0].integer("n") == 0)
    }
}
