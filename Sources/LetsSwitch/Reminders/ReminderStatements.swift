import Postgres

/// What `ReminderStore` asks the database: a statement each, a transaction each.
enum ReminderStatements {
    /// The names that metrics go by.
    static let names = [
        claimDue, claimEach, newestBatch, ownBatches, firedBetween, nextDue,
        markDelivered, expire, backlogOf, remindersOfMany, openRooms, findRoom,
    ].map(\.name)

    static let claimDue = PostgresStatement(name: "claim_due", sql: "SELECT * FROM letsswitch.claim_due($1)")

    static let claimEach = PostgresStatement(name: "claim_each", sql: "SELECT * FROM letsswitch.claim_each($1)")

    static let newestBatch = PostgresStatement(
        name: "newest_batch", sql: "SELECT coalesce(max(batch), 0) AS batch FROM letsswitch.claim")

    static let ownBatches = PostgresStatement(
        name: "own_batches",
        sql: """
            SELECT batch FROM letsswitch.claim WHERE batch > $2 AND claimer = $1 ORDER BY batch LIMIT 1000
            """)

    static let firedBetween = PostgresStatement(
        name: "fired_between", sql: "SELECT * FROM letsswitch.fired_between($1, $2)")

    static let nextDue = PostgresStatement(name: "next_due", sql: "SELECT * FROM letsswitch.next_due()")

    static let markDelivered = PostgresStatement(
        name: "mark_delivered", sql: "SELECT reminder_id FROM letsswitch.mark_delivered($1::text[]::uuid[])")

    static let expire = PostgresStatement(
        name: "expire_reminders", sql: "SELECT reminder_id, task_id FROM letsswitch.expire_reminders()")

    /// With whether each came after the last one that its reader saw. One that isn't the device's excludes none.
    static let backlogOf = PostgresStatement(
        name: "backlog_of",
        sql: """
            SELECT fired.*, fired.seq > coalesce((
                SELECT reminder.seq FROM letsswitch.reminder JOIN letsswitch.task ON task.id = reminder.task_id
                WHERE reminder.id = $2 AND task.device_id = $1
            ), 0) AS is_unseen
            FROM letsswitch.reminders_of($1, $3, $4) AS fired
            """)

    static let remindersOfMany = PostgresStatement(
        name: "reminders_of_many",
        sql: """
            SELECT fired.* FROM unnest($1::text[]) AS device (id)
            CROSS JOIN LATERAL letsswitch.reminders_of(device.id, 0, $2) AS fired
            ORDER BY fired.seq
            """)

    static let openRooms = PostgresStatement(name: "open_rooms", sql: "SELECT * FROM letsswitch.open_rooms()")

    static let findRoom = PostgresStatement(name: "find_room", sql: "SELECT * FROM letsswitch.find_room($1)")
}
