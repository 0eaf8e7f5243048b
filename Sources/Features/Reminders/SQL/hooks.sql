-- The hooks with which the schedule uses reminders. The schedule's README declares them.

-- Locks the reminders of these tasks in order of id, until the end of the transaction. The caller has locked their
-- slots.
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

-- Deletes the reminders of these tasks. The arrays have the id and the start of each task. The caller has locked the
-- reminders.
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

-- Returns the claimed tasks that start after p_after and not after p_until.
CREATE FUNCTION schedule.reminded_tasks(p_after timestamptz, p_until timestamptz) RETURNS SETOF uuid
LANGUAGE sql STABLE AS $$
    SELECT reminder.task_id FROM reminders.reminder WHERE reminder.starts_at > p_after AND reminder.starts_at <= p_until
$$;

-- Returns the earliest start of a claimed task after p_after. Returns NULL if there is none.
CREATE FUNCTION schedule.next_reminded_start(p_after timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT reminder.starts_at FROM reminders.reminder WHERE reminder.starts_at > p_after ORDER BY reminder.starts_at LIMIT 1
$$;
