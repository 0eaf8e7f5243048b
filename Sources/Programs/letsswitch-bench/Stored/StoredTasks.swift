/// The SQL that fills a database with tasks. Each device has ten tasks, and all tasks have a partner. Half of the tasks
/// are past and reminded, and half are in the future.
enum StoredTasks {
    /// The number of slots before now, and the number after now. Slots are an hour apart.
    static let slots = 640
    static let tasksPerDevice = 10
    static let device = "stored-"

    /// - Parameters:
    ///   - count: The number of tasks, a multiple of twenty.
    ///   - now: The time in epoch seconds, on the hour.
    static func fill(_ count: Int, now: Int) -> String {
        """
        BEGIN;
        TRUNCATE schedule.task, schedule.due, reminders.reminder, reminders.claim;
        CREATE TEMPORARY TABLE wish ON COMMIT DROP AS
        SELECT
            md5(number::text)::uuid AS id, '\(device)' || number % \(count / tasksPerDevice) AS device_id,
            to_timestamp(\(now) + 3600 * (
                (number % \(count / tasksPerDevice) / 2 * 7 + number / \(count / tasksPerDevice) * 131) % \(2 * slots)
                - \(slots) + 1
            )) AS starts_at,
            md5('room' || number / 2)::uuid AS room_id, md5((number # 1)::text)::uuid AS partner_id
        FROM generate_series(0, \(count - 1)) AS number;
        INSERT INTO schedule.task (
            id, device_id, title, starts_at, reminds_at, time_zone, start_time, room_id, closes_at, partner_id
        )
        SELECT
            id, device_id, 'History', starts_at, starts_at - interval '60 s', 'UTC', '09:00', room_id,
            starts_at + interval '1 h', partner_id
        FROM wish ORDER BY id;
        INSERT INTO schedule.due (reminds_at, registered, task_id, starts_at, closes_at)
        SELECT reminds_at, registered, id, starts_at, closes_at FROM schedule.task
        WHERE starts_at > to_timestamp(\(now + 3600));
        CREATE TEMPORARY TABLE past ON COMMIT DROP AS
        SELECT
            id, starts_at, closes_at,
            (dense_rank() OVER (ORDER BY starts_at) << 12)
                + row_number() OVER (PARTITION BY starts_at ORDER BY id) - 1 AS seq
        FROM schedule.task WHERE starts_at <= to_timestamp(\(now + 3600));
        INSERT INTO reminders.reminder (id, seq, task_id, starts_at, claimed_at, state, delivered_at)
        SELECT reminders.reminder_id(seq, id), seq, id, starts_at, starts_at - interval '60 s', 'delivered', starts_at
        FROM past ORDER BY seq;
        INSERT INTO reminders.claim (batch, closes_at, expires_at)
        SELECT seq >> 12, max(closes_at), NULL FROM past GROUP BY 1;
        SELECT setval('reminders.batch', (SELECT max(batch) FROM reminders.claim));
        COMMIT
        """
    }

    /// Returns SQL that makes `count` more tasks due. The tasks belong to additional devices.
    static func makeDue(_ count: Int, run: Int) -> String {
        """
        WITH added AS (
            INSERT INTO schedule.task (
                id, device_id, title, starts_at, reminds_at, time_zone, start_time, room_id, closes_at
            )
            SELECT
                gen_random_uuid(), 'due-\(run)-' || number, 'History', now() + interval '50 s', now() - interval '10 s', 'UTC',
                '09:00', gen_random_uuid(), now() + interval '1 h'
            FROM generate_series(1, \(count)) AS number
            RETURNING *
        )
        INSERT INTO schedule.due (reminds_at, registered, task_id, starts_at, closes_at)
        SELECT reminds_at, registered, id, starts_at, closes_at FROM added
        """
    }
}
