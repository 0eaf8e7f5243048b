-- The deletion of past reminders with their tasks.

-- Deletes reminders and tasks that started more than p_retention seconds ago, and the tasks of erased users whose
-- matches are over, at most p_limit of each kind. Returns the number of reminders. If it isn't 0, more may be left. A
-- task that isn't claimed has no reminder, so it isn't deleted.
CREATE FUNCTION reminders.delete_old(p_retention double precision, p_limit integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz := core.clock();
    v_before timestamptz := v_now - make_interval(secs => p_retention);
    v_reminders uuid[];
    v_tasks uuid[];
BEGIN
    v_reminders := ARRAY(
        SELECT reminder.id FROM reminders.reminder
        WHERE reminder.starts_at < v_before ORDER BY reminder.starts_at LIMIT p_limit FOR UPDATE SKIP LOCKED
    ) || ARRAY(
        SELECT reminder.id FROM schedule.erased_tasks(v_now) AS task
        JOIN reminders.reminder ON reminder.starts_at = task.starts_at AND reminder.task_id = task.id
        ORDER BY task.starts_at LIMIT p_limit
        FOR UPDATE OF reminder SKIP LOCKED
    );
    WITH past AS (
        DELETE FROM reminders.reminder WHERE reminder.id = ANY (v_reminders) RETURNING reminder.task_id
    )
    SELECT array_agg(past.task_id) INTO v_tasks FROM past;
    PERFORM schedule.delete_past_tasks(v_tasks);
    -- Deletes those of the oldest claims that have no reminders left.
    DELETE FROM reminders.claim WHERE claim.batch = ANY (ARRAY(
        SELECT oldest.batch FROM reminders.claim AS oldest ORDER BY oldest.batch LIMIT p_limit FOR UPDATE SKIP LOCKED
    )) AND NOT EXISTS (
        SELECT FROM reminders.reminder
        WHERE reminder.id > reminders.first_reminder_id(claim.batch) AND reminder.id < reminders.first_reminder_id(claim.batch + 1)
    );
    RETURN cardinality(v_reminders);
END
$$;
