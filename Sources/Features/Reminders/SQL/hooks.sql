-- What the schedule asks of reminders: the hooks that its README declares.

-- Locks the reminders of these tasks until the end of the transaction, in the order of their ids. Their slots are locked.
CREATE FUNCTION schedule.lock_reminders(p_tasks uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM reminders.reminder WHERE reminder.id = ANY (ARRAY(
        SELECT claimed.id FROM (
            SELECT task.id, task.starts_at FROM schedule.visible_task AS task WHERE task.id = ANY (p_tasks) OFFSET 0
        ) AS own
        CROSS JOIN LATERAL (
            SELECT reminder.id FROM reminders.reminder
            WHERE reminder.starts_at = own.starts_at AND reminder.task_id = own.id
            OFFSET 0
        ) AS claimed
    ))
    ORDER BY reminder.id FOR UPDATE;
END
$$;

-- Deletes the reminders of these tasks, which are locked. Each comes with its start.
CREATE FUNCTION schedule.delete_reminders(p_tasks uuid[], p_starts timestamptz[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM reminders.reminder WHERE reminder.id = ANY (ARRAY(
        SELECT claimed.id FROM unnest(p_tasks, p_starts) AS own (id, starts_at)
        CROSS JOIN LATERAL (
            SELECT reminder.id FROM reminders.reminder
            WHERE reminder.starts_at = own.starts_at AND reminder.task_id = own.id
            OFFSET 0
        ) AS claimed
    ));
END
$$;

-- Whether a task was claimed before its start.
CREATE FUNCTION schedule.was_reminded(p_task uuid, p_starts_at timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM reminders.reminder
        WHERE reminder.starts_at = p_starts_at AND reminder.task_id = p_task AND reminder.claimed_at < p_starts_at)
$$;

-- The claimed tasks that start after p_after, up to p_until.
CREATE FUNCTION schedule.reminded_tasks(p_after timestamptz, p_until timestamptz) RETURNS SETOF uuid
LANGUAGE sql STABLE AS $$
    SELECT reminder.task_id FROM reminders.reminder WHERE reminder.starts_at > p_after AND reminder.starts_at <= p_until
$$;

-- The earliest start of a claimed task after p_after; NULL if there is none.
CREATE FUNCTION schedule.next_reminded_start(p_after timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT reminder.starts_at FROM reminders.reminder WHERE reminder.starts_at > p_after ORDER BY reminder.starts_at LIMIT 1
$$;
